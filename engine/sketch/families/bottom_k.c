/* The bottom-k family is the one of the index: the nested sample of min_sketch.h, under the default
 * policy. Its elements are fingerprints under a key already and serve as its values: nothing is
 * drawn beyond that. min_sketch.c has the idea, a worked example and the measured errors; this file
 * only adapts it to the interface of family.h.
 *
 * Payload: the stored form of min_sketch_store.c, some 1 KiB for most documents and 32 KiB at most.
 * Cost: that of min_sketch_build.c an element; an estimate decodes both sketches first.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sketch/families/families.h"
#include "engine/sketch/minima/min_sketch.h"

struct bottom_k {
    struct min_sketch_builder *builder;
    uint8_t *payload;
};

static void bottom_k_free(void *state)
{
    struct bottom_k *bottom_k = state;
    min_sketch_builder_free(bottom_k->builder);
    free(bottom_k->payload);
    free(bottom_k);
}

static int bottom_k_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct policy policy;
    struct bottom_k *bottom_k = calloc(1, sizeof(*bottom_k));
    if (!bottom_k)
        return -ENOMEM;
    int r = policy_preset("default", &policy);
    _Static_assert((int)SKETCH_KEY_BYTES == (int)POLICY_KEY_BYTES, "one key for both");
    memcpy(policy.key, key, SKETCH_KEY_BYTES);
    if (r == 0)
        r = min_sketch_builder_new(&policy, &bottom_k->builder);
    if (r < 0) {
        bottom_k_free(bottom_k);
        return r;
    }
    *ret_state = bottom_k;
    return 0;
}

static void bottom_k_begin(void *state)
{
    struct bottom_k *bottom_k = state;
    min_sketch_builder_begin(bottom_k->builder);
}

static int bottom_k_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct bottom_k *bottom_k = state;
    min_sketch_builder_add(bottom_k->builder, elements, n_elements);
    return 0;
}

static int bottom_k_finish(void *state, struct sketch_payload *ret_payload)
{
    struct bottom_k *bottom_k = state;
    struct min_sketch sketch;
    min_sketch_builder_finish(bottom_k->builder, UINT64_MAX, &sketch); /* tokens: not known */
    size_t size = min_sketch_encoded_bytes(&sketch);
    uint8_t *payload = realloc(bottom_k->payload, size);
    if (!payload)
        return -ENOMEM;
    bottom_k->payload = payload;
    min_sketch_encode(&sketch, payload);
    *ret_payload = (struct sketch_payload){payload, size};
    return 0;
}

typedef int (*estimator)(const struct min_sketch *a, const struct min_sketch *b,
                         struct estimate *ret_estimate);

static int decoded(const struct sketch_payload *a, const struct sketch_payload *b, estimator psi,
                   struct estimate *ret_estimate)
{
    struct min_sketch sketch_a, sketch_b;
    int r = min_sketch_decode(a->bytes, a->size_bytes, &sketch_a);
    if (r < 0)
        return r;
    r = min_sketch_decode(b->bytes, b->size_bytes, &sketch_b);
    if (r == 0) {
        r = psi(&sketch_a, &sketch_b, ret_estimate);
        min_sketch_done(&sketch_b);
    }
    min_sketch_done(&sketch_a);
    return r;
}

static int bottom_k_resemblance(const struct sketch_payload *a, const struct sketch_payload *b,
                                struct estimate *ret_estimate)
{
    return decoded(a, b, min_sketch_resemblance, ret_estimate);
}

static int bottom_k_containment(const struct sketch_payload *a, const struct sketch_payload *b,
                                struct estimate *ret_estimate)
{
    return decoded(a, b, min_sketch_containment, ret_estimate);
}

const struct sketch_family bottom_k_family = {
    .name = "bottom-k",
    .summary = "the smallest 128 fingerprints, and those below 2^64/25: what the index keeps",
    .measure = SKETCH_RESEMBLANCE,
    .number = 1,
    .state_new = bottom_k_new,
    .state_free = bottom_k_free,
    .begin = bottom_k_begin,
    .add = bottom_k_add,
    .finish = bottom_k_finish,
    .estimate = bottom_k_resemblance,
    .containment = bottom_k_containment,
};
