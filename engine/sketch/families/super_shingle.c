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

struct super_shingle {
    struct min_hash *min_hash;
    uint8_t payload[PAYLOAD_BYTES];
};

static void super_shingle_free(void *state)
{
    struct super_shingle *super = state;
    min_hash_free(super->min_hash);
    free(super);
}

static int super_shingle_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct super_shingle *super = calloc(1, sizeof(*super));
    if (!super)
        return -ENOMEM;
    int r = min_hash_new(key, "super shingles", (size_t)GROUPS * IN_GROUP, &super->min_hash);
    if (r < 0) {
        free(super);
        return r;
    }
    *ret_state = super;
    return 0;
}

static void super_shingle_begin(void *state)
{
    struct super_shingle *super = state;
    min_hash_begin(super->min_hash);
}

static int super_shingle_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct super_shingle *super = state;
    min_hash_add(super->min_hash, elements, n_elements);
    return 0;
}

static int super_shingle_finish(void *state, struct sketch_payload *ret_payload)
{
    struct super_shingle *super = state;
    const uint64_t *slots = min_hash_slots(super->min_hash);
    for (size_t i = 0; i < GROUPS; i++)
        put_be64(super->payload + 8 * i,
                 XXH3_64bits(slots + IN_GROUP * i, IN_GROUP * sizeof(*slots)));
    *ret_payload = (struct sketch_payload){super->payload, PAYLOAD_BYTES};
    return 0;
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
    .state_free = super_shingle_free,
    .begin = super_shingle_begin,
    .add = super_shingle_add,
    .finish = super_shingle_finish,
    .estimate = super_shingle_estimate,
};
