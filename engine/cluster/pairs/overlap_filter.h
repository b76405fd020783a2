/* A filter bounds how many values two sketches have in common, from 64 bytes of each: most pairs
 * that share a fingerprint but not much more are refused without a look at their sketches. No pair
 * that reaches the threshold is ever refused.
 *
 * A filter has a bit for each residue mod 512 that one of the first s values has. With x values
 * of n_a and n_b in common, at most n_a + n_b - 2x values are left to set the bits in which the
 * filters differ: x <= (n_a + n_b - differing) / 2. (Sandes, Teodoro, Melo 2020, Bitmap filter:
 * speeding up exact set similarity joins with bitwise operations.) Two sketches of 128 values with
 * few in common differ in some 170 bits: at most 43; for a resemblance of 0.5 it takes 64.
 */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_OVERLAP_FILTER_H
#define KINFS_ENGINE_CLUSTER_PAIRS_OVERLAP_FILTER_H

#include "base/kernel.h"
#include "base/mix.h"
#include "engine/sketch/minima/min_sketch.h"

enum { OVERLAP_WORDS = 8, OVERLAP_BITS = 64 * OVERLAP_WORDS };

struct overlap_filter {
    uint64_t bits[OVERLAP_WORDS];
    uint32_t n;        /* values it was made of: all, or the first s; 0: there is no filter */
    uint32_t n_v : 31; /* of V */
    uint32_t complete : 1;
};

void overlap_filter_make(const struct min_sketch *sketch, struct overlap_filter *ret_filter);

/* The number of bits in which two filters differ. */
static inline uint32_t overlap_differing(const struct overlap_filter *a,
                                         const struct overlap_filter *b)
{
#ifdef __POPCNT__
    uint32_t n = 0;
    for (unsigned i = 0; i < OVERLAP_WORDS; i++)
        n += (uint32_t)__builtin_popcountll(a->bits[i] ^ b->bits[i]);
    return n;
#else
    uint64_t sums = 0; /* eight sums in eight bytes, at most 64 each */
    for (unsigned i = 0; i < OVERLAP_WORDS; i++) {
        uint64_t x = a->bits[i] ^ b->bits[i];
        x -= x >> 1 & 0x5555555555555555u;
        x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
        sums += (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    }
    sums = (sums & 0x00ff00ff00ff00ffu) + (sums >> 8 & 0x00ff00ff00ff00ffu);
    return (uint32_t)(sums * 0x0001000100010001u >> 48);
#endif
}

/* True when two sketches of one policy, with MIN_s of s values, may have a resemblance of at_least.
 * False only where min_sketch_reaches() returns 0. */
static inline bool overlap_filter_passes(const struct overlap_filter *a,
                                         const struct overlap_filter *b, uint32_t s,
                                         double at_least)
{
    double most = 0.5 * ((double)a->n + b->n - overlap_differing(a, b)) * (1 + 1e-9);
    if (a->complete && b->complete) /* x / (n_a + n_b - x) */
        return most * (1 + at_least) >= at_least * ((double)a->n + b->n);
    if ((uint32_t)a->n_v + b->n_v > s) /* maybe the sample is larger than s */
        return true;
    return most >= at_least * s; /* common values in the union's first s are in both first s */
}

/* A scan finds the next filter of many that is of another set and passes.
 *
 * filters, sets  n of them; those with sets[i] != set are looked at, their number is added to
 *                *n_others
 * from           where to begin; returns the next one that passes, or n */
typedef size_t overlap_scan_fn(const struct overlap_filter *filter, uint32_t set,
                               const struct overlap_filter *filters, const uint32_t *sets,
                               size_t from, size_t n, uint32_t s, double at_least,
                               uint64_t *n_others);

/* The scan of a kernel; NULL when this processor does not have it. (That of AVX2 is the portable
 * one, compiled for processors that count bits by an instruction.) */
overlap_scan_fn *overlap_scan_of(enum kernel kernel);

overlap_scan_fn overlap_scan_scalar, overlap_scan_avx2, overlap_scan_avx512;

static inline size_t overlap_scan(const struct overlap_filter *filter, uint32_t set,
                                  const struct overlap_filter *filters, const uint32_t *sets,
                                  size_t from, size_t n, uint32_t s, double at_least,
                                  uint64_t *n_others)
{
    uint64_t n_looked_at = 0;
    for (; from < n; from++) {
        if (sets[from] == set)
            continue;
        n_looked_at++;
        if (overlap_filter_passes(filter, &filters[from], s, at_least))
            break;
    }
    *n_others += n_looked_at;
    return from;
}

#endif
