/* The broder1997 family is the sketch as it is printed (Broder, Glassman, Manasse and Zweig 1997,
 * section 4): every shingle has a Rabin fingerprint of 40 bits, a permutation scatters these
 * fingerprints, and the sketch keeps the permuted values that are 0 mod 25. The permutation is the
 * same for all documents, so a shingle that two documents share is kept in both or in neither, and
 * the kept values are a sample of the shingles at a rate of 1 in 25.
 *
 * Example: V(A) = {25 75} and V(B) = {75 100} have 1 of 3 values in common, the estimate of the
 * resemblance is 1/3, that of the containment of A in B is 1/2.
 *
 * With w = 10 and the elements of rabin.h the sketch is the paper's to the letter. Elements of
 * another kind are read as strings of 64 bits.
 *
 * Cost: six table look-ups, four Feistel rounds and a division an element; a comparison is one
 * merge. The sketch is 5 bytes for every 25 shingles.
 *
 * Left out: a minimum size. A short document may have an empty sketch (one of 25 shingles with
 * probability 0.36); the estimate is then -ENODATA, which is not an estimate of 0. min_sketch.h
 * removes this weakness and is the family of the index.
 *
 * Payload: the kept values, 5 bytes each, big endian, ascending, each once.
 */
#include <errno.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "engine/sketch/families/element_set.h"
#include "engine/sketch/families/families.h"
#include "engine/sketch/hash/permutation40.h"
#include "engine/sketch/hash/rabin.h"

enum { MODULUS = 25, VALUE_BYTES = RABIN_BYTES };

struct broder_sketch {
    struct rabin rabin;
    struct permutation40 permutation;
    struct element_set selected;
    uint8_t *payload;
};

static void broder_sketch_free(void *state)
{
    struct broder_sketch *sketch = state;
    element_set_done(&sketch->selected);
    free(sketch->payload);
    free(sketch);
}

static int broder_sketch_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    struct broder_sketch *sketch = calloc(1, sizeof(*sketch));
    if (!sketch)
        return -ENOMEM;
    int r = rabin_init(&sketch->rabin, key);
    if (r == 0)
        r = permutation40_init(&sketch->permutation, key);
    if (r < 0) {
        free(sketch);
        return r;
    }
    *ret_state = sketch;
    return 0;
}

static void broder_sketch_begin(void *state)
{
    struct broder_sketch *sketch = state;
    element_set_clear(&sketch->selected);
}

static int broder_sketch_add(void *state, const uint64_t *elements, size_t n_elements)
{
    struct broder_sketch *sketch = state;
    for (size_t i = 0; i < n_elements; i++) {
        uint64_t fingerprint = rabin_remainder(&sketch->rabin, elements[i]);
        uint64_t value = permute40(&sketch->permutation, fingerprint);
        if (value % MODULUS != 0)
            continue;
        int r = element_set_add(&sketch->selected, &value, 1);
        if (r < 0)
            return r;
    }
    return 0;
}

static int broder_sketch_finish(void *state, struct sketch_payload *ret_payload)
{
    struct broder_sketch *sketch = state;
    element_set_sort(&sketch->selected);
    size_t size = VALUE_BYTES * sketch->selected.n_elements;
    uint8_t *payload = realloc(sketch->payload, size + 1); /* never 0 bytes */
    if (!payload)
        return -ENOMEM;
    sketch->payload = payload;
    for (size_t i = 0; i < sketch->selected.n_elements; i++) {
        uint64_t value = sketch->selected.elements[i];
        payload[VALUE_BYTES * i] = (uint8_t)(value >> 32);
        put_be32(payload + VALUE_BYTES * i + 1, (uint32_t)value);
    }
    *ret_payload = (struct sketch_payload){payload, size};
    return 0;
}

static uint64_t value_at(const struct sketch_payload *payload, size_t i)
{
    const uint8_t *p = payload->bytes + VALUE_BYTES * i;
    return (uint64_t)p[0] << 32 | get_be32(p + 1);
}

static bool is_valid(const struct sketch_payload *payload)
{
    if (payload->size_bytes % VALUE_BYTES != 0)
        return false;
    for (size_t i = 0; i < payload->size_bytes / VALUE_BYTES; i++)
        if (value_at(payload, i) % MODULUS != 0 ||
            (i > 0 && value_at(payload, i) <= value_at(payload, i - 1)))
            return false;
    return true;
}

static int count_common(const struct sketch_payload *a, const struct sketch_payload *b,
                        uint32_t *ret_common, uint32_t *ret_union)
{
    if (!is_valid(a) || !is_valid(b))
        return -EUCLEAN;
    size_t n_a = a->size_bytes / VALUE_BYTES, n_b = b->size_bytes / VALUE_BYTES;
    uint32_t common = 0;
    for (size_t i = 0, j = 0; i < n_a && j < n_b;) {
        uint64_t x = value_at(a, i), y = value_at(b, j);
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    *ret_common = common;
    *ret_union = (uint32_t)(n_a + n_b) - common;
    return 0;
}

/* |V(A) n V(B)| / |V(A) u V(B)| */
static int broder_sketch_resemblance(const struct sketch_payload *a, const struct sketch_payload *b,
                                     struct estimate *ret_estimate)
{
    uint32_t n_common, n_union;
    int r = count_common(a, b, &n_common, &n_union);
    if (r < 0)
        return r;
    if (n_union == 0)
        return -ENODATA;
    *ret_estimate = estimate_of_sample(n_common, n_union, (double)MODULUS * n_union);
    return 0;
}

/* |V(A) n V(B)| / |V(A)| */
static int broder_sketch_containment(const struct sketch_payload *a, const struct sketch_payload *b,
                                     struct estimate *ret_estimate)
{
    uint32_t n_common, n_union, n_a = (uint32_t)(a->size_bytes / VALUE_BYTES);
    int r = count_common(a, b, &n_common, &n_union);
    if (r < 0)
        return r;
    if (n_a == 0)
        return -ENODATA;
    *ret_estimate = estimate_of_sample(n_common, n_a, (double)MODULUS * n_a);
    return 0;
}

const struct sketch_family broder_family = {
    .name = "broder1997",
    .summary = "permuted Rabin fingerprints of 40 bits that are 0 mod 25, as printed",
    .measure = SKETCH_RESEMBLANCE,
    .number = 2,
    .of_rabin_elements = true,
    .state_new = broder_sketch_new,
    .state_free = broder_sketch_free,
    .begin = broder_sketch_begin,
    .add = broder_sketch_add,
    .finish = broder_sketch_finish,
    .estimate = broder_sketch_resemblance,
    .containment = broder_sketch_containment,
};
