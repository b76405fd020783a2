/* The sketch of a document: one sorted array of shingle fingerprints that holds F = MIN_s,
 * V = MOD_m and every V_i at once (Broder et al. 1997, sections 3 and 4; nesting: the fingerprint's
 * bit reversal is divisible by 2^i iff the fingerprint is below 2^(64-i)).
 *
 * values  sorted ascending, unique: all fingerprints of the document below `below`
 * below   the bound under which the sketch is complete; 0 means 2^64: it holds every shingle, and
 *         every estimate from two such sketches is exact
 *
 *    0 ......... |MIN_s| ......... 2^64/m ............................ 2^64
 *    |- F: the first s ----|
 *    |- V: all below v_below ------|        below = max(v_below, x_(s)+1)
 */
#ifndef KINFS_ENGINE_SKETCH_MINIMA_MIN_SKETCH_H
#define KINFS_ENGINE_SKETCH_MINIMA_MIN_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/sketch/estimate.h"
#include "engine/sketch/policy.h"

struct min_sketch {
    uint64_t policy_id;
    uint64_t n_tokens; /* of the document */
    uint64_t below;    /* complete below this; 0: complete */
    uint64_t v_below;  /* V = values below this (0: 2^64): 2^64/m, or 2^(64-i) when that were more
                          than v_max values (V_i); the bound depends on the values only by i */
    uint32_t s, m;
    uint32_t n_values;
    const uint64_t *values; /* owned by the maker of the sketch; see min_sketch_copy() */
};

/* -- estimates -- */

/* Estimate how alike two documents are from their sketches.
 *
 * a, b          borrowed, unchanged; may be the same sketch
 * ret_estimate  |S(A) n S(B)| / |S(A) u S(B)|; exact when both sketches hold all their shingles
 *
 * Returns 0, -EPROTO when the policies differ, -ENODATA when either document has no shingle. Reads
 * only its arguments: any thread, no lock, no allocation. One merge pass over both arrays.
 *
 * Broder et al. 1997, section 3, theorem part 1 (MIN_s), and part 2 (MOD_m) where V holds more than
 * s values of the union. (The sample is a number of smallest values of the union that depends on
 * the union alone; min_sketch.c says why that keeps the estimate unbiased.)
 */
int min_sketch_resemblance(const struct min_sketch *a, const struct min_sketch *b,
                           struct estimate *ret_estimate);

/* Estimate how much of a is contained in b: |S(A) n S(B)| / |S(A)|.
 *
 * Returns 0, -EPROTO, or -ENODATA when a has no shingle or none in the sample.
 * Otherwise as above. Broder et al. 1997, section 3, theorem part 3, on the same sample of the
 * union as the resemblance: unbiased given that a has a value in it.
 */
int min_sketch_containment(const struct min_sketch *a, const struct min_sketch *b,
                           struct estimate *ret_estimate);

/* The same where all of b is known: how much of a is among some fingerprints.
 *
 * all  ascending, unique: of all shingles of b, under the policy of a
 *
 * The sample is the whole sketch of a, so that a short document of which few fingerprints are in
 * V is known as well as any; exact when a's sketch is complete. Returns 0, or -ENODATA when a has
 * no shingle. A binary search for each value of a. */
int min_sketch_containment_in(const struct min_sketch *a, const uint64_t *all, size_t n_all,
                              struct estimate *ret_estimate);

/* Returns 1 when the resemblance of min_sketch_resemblance() is at least at_least, and fills
 * *ret_estimate; 0 when it is less, which is found as early as the values allow; or an error.
 */
int min_sketch_reaches(const struct min_sketch *a, const struct min_sketch *b, double at_least,
                       struct estimate *ret_estimate);

/* Distinct shingles of the document: exact for a complete sketch, else from the count of V where it
 * has more than s values, else (s-1)/x_(s) in units of the range (the KMV estimate).
 */
double min_sketch_cardinality(const struct min_sketch *sketch);

/* The number of values that V = MOD_m (or V_i) has: they are values[0 .. n). */
uint32_t min_sketch_n_v(const struct min_sketch *sketch);

/* The modulus of V, which holds one of so many fingerprints: m, or 2^i for V_i; UINT32_MAX when
 * that were more. */
uint32_t min_sketch_modulus(const struct min_sketch *sketch);

/* 128-bit fingerprint of the selected shingles; equal for *shingle-equivalent* documents. Of no use
 * for an empty sketch (Broder et al. 1997, section 5.2; the empty set never counts). */
void min_sketch_fingerprint(const struct min_sketch *sketch, uint8_t ret_fingerprint[16]);

/* -- building -- */

struct min_sketch_builder;

/* Returns 0, -EINVAL, -ENOMEM; ret_builder gives. The only allocation; memory is fixed by policy.
 */
int min_sketch_builder_new(const struct policy *policy, struct min_sketch_builder **ret_builder);
void min_sketch_builder_free(struct min_sketch_builder *builder);
DEFINE_CLEANUP(struct min_sketch_builder *, min_sketch_builder_free);

/* Begin a new document. */
void min_sketch_builder_begin(struct min_sketch_builder *builder);

/* Add shingle fingerprints, in any order, duplicates welcome. */
void min_sketch_builder_add(struct min_sketch_builder *builder, const uint64_t *fingerprints,
                            size_t n_fingerprints);

/* The sketch of all that was added; its values are the builder's, valid until the next begin. */
void min_sketch_builder_finish(struct min_sketch_builder *builder, uint64_t n_tokens,
                               struct min_sketch *ret_sketch);

/* The same with its s smallest values alone, as one of a document in whose place nothing is
 * compared by containment: compares with all others of its policy, by MIN_s. Borrows the values. */
struct min_sketch min_sketch_shortened(const struct min_sketch *sketch);

/* -- memory and stored form -- */

int min_sketch_copy(const struct min_sketch *sketch, struct min_sketch *ret_copy); /* -ENOMEM */
void min_sketch_done(struct min_sketch *owned); /* frees the values of a copy or decode */

/* True when a sketch whose numbers come from elsewhere has all relations between them that a built
 * one has. n_tokens is not looked at. O(n_values). */
bool min_sketch_is_sound(const struct min_sketch *sketch);

size_t min_sketch_encoded_bytes(const struct min_sketch *sketch);
void min_sketch_encode(const struct min_sketch *sketch, void *out);
/* Validates everything: versions, sizes, order, bounds. Returns 0, -EUCLEAN, -ENOMEM;
 * ret_sketch gives. */
int min_sketch_decode(const void *data, size_t size_bytes, struct min_sketch *ret_sketch);

#endif
