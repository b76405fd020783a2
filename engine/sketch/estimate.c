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
    double n = fmax(population, k + 1.0); /* not exact: at least one more is out there */
    double error = sqrt(share_variance(x, k) * (n - k) / (n - 1));
    return (struct estimate){(double)x / k, error, k, false};
}
