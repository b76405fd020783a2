/* Super shingles: fingerprints of groups of minima. 84 minima in 6 groups of 14 make 48 bytes a
 * document (Broder, Glassman, Manasse and Zweig 1997, section 5.3; in this form Broder 2000,
 * "Identifying and filtering near-duplicate documents").
 *
 * Documents agree in a super shingle when they agree in all 14 minima: with probability r^14.
 *
 *     P(at least 1 of 6) = 1 - (1 - r^14)^6      0.237 at r = 0.8, 0.790 at 0.9, 0.982 at 0.95
 *     P(at least 2 of 6), the filter's question  0.415 at r = 0.9, 0.996 at 0.98
 *
 * This is a threshold near r = 0.9 for the price of comparing six numbers, or of sorting them.
 *
 * Example: documents that agree in 2 of 6 super shingles have an estimate of r^14 = 1/3, which is
 * r = 0.92.
 *
 * Cost: 84 multiplications an element (min_hash.c), six comparisons a pair. Left out: an estimate
 * of r itself, the containment, and any answer for documents that differ much: all six differ
 * there.
 */
#include <errno.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/families/families.h"
#include "engine/sketch/families/min_hash.h"

enum { GROUPS = 6, IN_GROUP = 14, PAYLOAD_BYTES = 8 * GROUPS };

static void pack(const uint64_t *slots, uint8_t *payload)
{
    for (size_t i = 0; i < GROUPS; i++)
        put_be64(payload + 8 * i, XXH3_64bits(slots + IN_GROUP * i, IN_GROUP * sizeof(*slots)));
}

static int super_shingle_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    return min_hash_new(key, "super shingles", (size_t)GROUPS * IN_GROUP, pack, PAYLOAD_BYTES,
                        ret_state);
}

static int super_shingle_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                                  struct estimate *ret_estimate)
{
    uint32_t n_equal = 0;
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < GROUPS; i++)
        n_equal += get_be64(a->bytes + 8 * i) == get_be64(b->bytes + 8 * i);
    *ret_estimate = estimate_of_trials(n_equal, GROUPS);
    return 0;
}

const struct sketch_family super_shingle_family = {
    .name = "super-shingles",
    .summary = "6 fingerprints of 14 minima each: 48 bytes, tells near-duplicates",
    .measure = SKETCH_SUPER,
    .number = 7,
    .state_new = super_shingle_new,
    .state_free = min_hash_free,
    .begin = min_hash_begin,
    .add = min_hash_add,
    .finish = min_hash_finish,
    .estimate = super_shingle_estimate,
};
