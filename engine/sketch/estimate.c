/* Standard errors by Agresti and Coull: the share of successes in the formula is (x+2)/(k+4) in
 * place of x/k, which near 0 and 1 would make the error far too small.
 *
 * Example: 0 of 128 makes 0 +- 0.011, where the plain formula makes 0 +- 0; 64 of 128 makes
 * 0.5 +- 0.044 by either. A sample of 128 out of 256 without replacement has that error times
 * sqrt(128/255) = 0.71.
 */
#include "engine/sketch/estimate.h"

#include <math.h>

static double share_variance(uint32_t x, uint32_t k)
{
    double share = (x + 2.0) / (k + 4.0);
    return share * (1 - share) / k;
}

struct estimate estimate_of_trials(uint32_t x, uint32_t k)
{
    return (struct estimate){(double)x / k, sqrt(share_variance(x, k)), k, false};
}

struct estimate estimate_of_sample(uint32_t x, uint32_t k, double population)
{
    double n = fmax(population, k + 1.0); /* a sample is not the whole: at least one more is left */
    double error = sqrt(share_variance(x, k) * (n - k) / (n - 1));
    return (struct estimate){(double)x / k, error, k, false};
}
