/* An estimate: a value of two documents as two sketches tell it, and how far to trust it. */
#ifndef KINFS_ENGINE_SKETCH_ESTIMATE_H
#define KINFS_ENGINE_SKETCH_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

struct estimate {
    double value;       /* 0.0 to 1.0; a count of shingles where the measure is a distance */
    double error;       /* standard error; 0 when exact; never 0 otherwise; NAN: not known */
    uint32_t n_samples; /* the size of the sample behind the value; below 8: low confidence */
    bool exact;
};

enum { ESTIMATE_CONFIDENT_SAMPLES = 8 };

/* A value from so few samples is hardly more than a guess, whatever its error claims to be. */
static inline bool estimate_is_low(bool exact, uint32_t n_samples)
{
    return !exact && n_samples < ESTIMATE_CONFIDENT_SAMPLES;
}

/* x of k trials succeeded: the share of successes, with its standard error by Agresti and Coull
 * (with x/k itself the error would be 0 for x = 0 and x = k, and near them far too small). k > 0.
 */
struct estimate estimate_of_trials(uint32_t x, uint32_t k);

/* The same for a sample of k drawn without replacement from a population of this size. */
struct estimate estimate_of_sample(uint32_t x, uint32_t k, double population);

#endif
