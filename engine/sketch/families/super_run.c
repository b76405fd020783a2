/* Super shingles as they are printed: "sort the sketch's shingles and then shingle the shingles".
 * The fingerprints of these runs are the meta-sketch, and documents that have one super shingle in
 * common have a run of their sketches in common (Broder et al. 1997, section 5.3).
 *
 * The sketch is MIN_84, a super shingle 14 values that follow each other in it; a sketch of fewer
 * has one super shingle, of all its values.
 *
 * Example: a sketch of 16 values has three runs, values 1-14, 2-15 and 3-16. A document whose
 * sketch lacks the first of them and is else the same has the last two in common with it.
 *
 * Runs overlap, so that one value that only one document has spoils 14 of them: the number of
 * common runs scatters in a way that has no simple form, and no error is claimed.
 *
 * Cost: that of min_sketch_build.c an element and 71 hashes of 112 bytes a document; a comparison
 * is one merge. Left out: the search of the paper, which sorts all super shingles; super_shingle.c
 * has groups that do not overlap, and an error.
 *
 * Payload: the fingerprints, 8 bytes each, ascending, each once.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/families/families.h"
#include "engine/sketch/minima/min_sketch.h"

enum { SKETCH_VALUES = 84, RUN = 14 };

struct super_run {
    struct min_sketch_builder *builder;
    uint8_t payload[8 * SKETCH_VALUES];
};

static void super_run_free(void *state)
{
    struct super_run *super = state;
    min_sketch_builder_free(super->builder);
    free(super);
}

static int super_run_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct policy policy;
    struct super_run *super = calloc(1, sizeof(*super));
    if (!super)
        return -ENOMEM;
    int r = policy_preset("default", &policy);
    memcpy(policy.key, key, SKETCH_KEY_BYTES);
    policy.s = SKETCH_VALUES;
    if (r == 0)
        r = min_sketch_builder_new(&policy, &super->builder);
    if (r < 0) {
        super_run_free(super);
        return r;
    }
    *ret_state = super;
    return 0;
}

static void super_run_begin(void *state)
{
    struct super_run *super = state;
    min_sketch_builder_begin(super->builder);
}

static int super_run_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct super_run *super = state;
    min_sketch_builder_add(super->builder, elements, n_elements);
    return 0;
}

static int super_run_finish(void *state, struct sketch_payload *ret_payload)
{
    struct super_run *super = state;
    struct min_sketch sketch;
    uint64_t prints[SKETCH_VALUES];
    min_sketch_builder_finish(super->builder, UINT64_MAX, &sketch);
    size_t n_values = sketch.n_values < SKETCH_VALUES ? sketch.n_values : SKETCH_VALUES;
    size_t in_run = n_values < RUN ? n_values : RUN, n = n_values - in_run + 1;
    for (size_t i = 0; i < n; i++)
        prints[i] = XXH3_64bits(sketch.values + i, in_run * sizeof(uint64_t));
    struct element_set set = {.elements = prints, .n_elements = n, .room = SKETCH_VALUES};
    element_set_sort(&set);
    for (size_t i = 0; i < set.n_elements; i++)
        put_be64(super->payload + 8 * i, prints[i]);
    *ret_payload = (struct sketch_payload){super->payload, 8 * set.n_elements};
    return 0;
}

static bool is_valid(const struct sketch_payload *payload)
{
    if (payload->size_bytes % 8 != 0 || payload->size_bytes == 0 ||
        payload->size_bytes > sizeof(uint64_t) * SKETCH_VALUES)
        return false;
    for (size_t at = 8; at < payload->size_bytes; at += 8)
        if (get_be64(payload->bytes + at) <= get_be64(payload->bytes + at - 8))
            return false;
    return true;
}

static int super_run_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                              struct estimate *ret_estimate)
{
    if (!is_valid(a) || !is_valid(b))
        return -EUCLEAN;
    uint32_t n_union = 0, n_both = 0;
    for (size_t i = 0, j = 0; i < a->size_bytes || j < b->size_bytes; n_union++) {
        uint64_t x = i < a->size_bytes ? get_be64(a->bytes + i) : 0;
        uint64_t y = j < b->size_bytes ? get_be64(b->bytes + j) : 0;
        bool from_a = j == b->size_bytes || (i < a->size_bytes && x <= y);
        bool from_b = i == a->size_bytes || (j < b->size_bytes && y <= x);
        n_both += from_a && from_b;
        i += from_a ? 8 : 0;
        j += from_b ? 8 : 0;
    }
    *ret_estimate = (struct estimate){(double)n_both / n_union, NAN, n_union, false};
    return 0;
}

const struct sketch_family super_run_family = {
    .name = "super-shingles-1997",
    .summary = "fingerprints of all runs of 14 in the sorted sketch, as printed",
    .measure = SKETCH_RUNS,
    .number = 8,
    .state_new = super_run_new,
    .state_free = super_run_free,
    .begin = super_run_begin,
    .add = super_run_add,
    .finish = super_run_finish,
    .estimate = super_run_estimate,
};
