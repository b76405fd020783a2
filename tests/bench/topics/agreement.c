#include "tests/bench/topics/agreement.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mix.h"

/* -- answers -- */

double precision_at(const struct ranks *ranks, unsigned n)
{
    double relevant = 0;
    unsigned left = n;
    for (unsigned rank = RANKS - 1; rank > 0 && left > 0; rank--) {
        const uint32_t all = ranks->all[rank];
        if (all <= left) {
            relevant += ranks->relevant[rank];
            left -= all;
        } else {
            relevant += (double)ranks->relevant[rank] * left / all;
            left = 0;
        }
    }
    return relevant / n;
}

double precision_by_chance(uint32_t n_relevant, uint32_t n_others)
{
    return (double)n_relevant / n_others;
}

double precision_at_best(uint32_t n_relevant, unsigned n)
{
    return n_relevant < n ? (double)n_relevant / n : 1;
}

/* -- clusters -- */

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double pairs(uint64_t n)
{
    return (double)n * ((double)n - 1) / 2;
}

/* Pairs of equal ones of sorted numbers, cut to their upper bits. */
static double equal_pairs(const uint64_t *sorted, uint32_t n, unsigned shift)
{
    double sum = 0;
    for (uint32_t i = 0, j; i < n; i = j) {
        for (j = i; j < n && sorted[j] >> shift == sorted[i] >> shift; j++)
            ;
        sum += pairs(j - i);
    }
    return sum;
}

/* Clusters and labels as numbers, cluster first, are sorted. */
static void look_at_clusters(const uint64_t *both, uint32_t n, struct agreement *agreement)
{
    uint32_t n_right = 0;
    for (uint32_t i = 0, j; i < n; i = j) {
        uint32_t most = 0, first = i;
        for (j = i; j < n && both[j] >> 32 == both[i] >> 32; j++) {
            if (both[j] != both[first])
                first = j;
            if (j - first + 1 > most)
                most = j - first + 1;
        }
        if (j - i < 2)
            continue;
        agreement->n_clusters++;
        agreement->n_clustered += j - i;
        n_right += most;
    }
    agreement->purity = agreement->n_clustered ? (double)n_right / agreement->n_clustered : 0;
}

int agreement_of(const uint32_t *clusters, const uint32_t *labels, uint32_t n,
                 struct agreement *ret_agreement)
{
    _cleanup_free_ uint64_t *both = calloc((size_t)n + 1, sizeof(*both));
    _cleanup_free_ uint64_t *alone = calloc((size_t)n + 1, sizeof(*alone));
    if (!both || !alone)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        both[i] = (uint64_t)clusters[i] << 32 | labels[i];
        alone[i] = labels[i];
    }
    qsort(both, n, sizeof(*both), compare_numbers);
    qsort(alone, n, sizeof(*alone), compare_numbers);
    const double together = equal_pairs(both, n, 0), in_clusters = equal_pairs(both, n, 32),
                 in_labels = equal_pairs(alone, n, 0);
    const double expected = n > 1 ? in_clusters * in_labels / pairs(n) : 0;
    const double most = (in_clusters + in_labels) / 2 - expected;
    const double best = in_clusters < in_labels ? in_clusters : in_labels;
    *ret_agreement = (struct agreement){.n = n, .ari = 1, .best_ari = 1};
    if (most > 0) {
        ret_agreement->ari = (together - expected) / most;
        ret_agreement->best_ari = (best - expected) / most;
    }
    look_at_clusters(both, n, ret_agreement);
    return 0;
}

int purity_by_chance(const uint32_t *clusters, const uint32_t *labels, uint32_t n, unsigned times,
                     uint64_t seed, double *ret_purity)
{
    _cleanup_free_ uint32_t *dealt = calloc((size_t)n + 1, sizeof(*dealt));
    struct agreement agreement;
    double sum = 0;
    if (!dealt)
        return -ENOMEM;
    memcpy(dealt, labels, n * sizeof(*dealt));
    for (unsigned k = 0; k < times; k++) {
        for (uint32_t i = n; i > 1; i--) {
            const uint32_t j = (uint32_t)(mix64_next(&seed) % i), label = dealt[j];
            dealt[j] = dealt[i - 1];
            dealt[i - 1] = label;
        }
        int r = agreement_of(clusters, dealt, n, &agreement);
        if (r < 0)
            return r;
        sum += agreement.purity;
    }
    *ret_purity = sum / times;
    return 0;
}
