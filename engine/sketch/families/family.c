/* The list of families, and the frame that is common to their sketches: a family makes the payload,
 * this file adds what tells sketches apart before two of them are compared. An empty set has a
 * frame without payload, so that no family has to think of it.
 *
 * The stored form of any sketch (big endian):
 *
 *   0   family         2   sketch_family.number
 *   2   version        1   SKETCH_VERSION
 *   3   empty          1   1: of the empty set, with no payload; 0: not
 *   4   payload bytes  4
 *   8   key id         8   64 bits of SHAKE256 over the key: tells keys apart and nothing of them
 *   16  check          8   XXH3-64 of all other bytes
 *   24  payload            the family's own
 *
 * Example: a super-shingles sketch has 24 + 48 bytes and begins 00 07 01 00 00 00 00 30. Another
 * key makes another key id, and comparing the two sketches gives -EPROTO and no estimate.
 */
#include "engine/sketch/families/family.h"

#include <errno.h>
#include <string.h>

#include <openssl/crypto.h>
#include <xxhash.h>

#include "base/bytes.h"
#include "engine/sketch/families/families.h"

enum { SKETCH_VERSION = 1, EMPTY_AT = 3, KEY_AT = 8, CHECK_AT = 16, PAYLOAD_AT = 24 };

const struct sketch_family *const sketch_families[] = {&bottom_k_family,
                                                       &broder_family,
                                                       &min_hash_family,
                                                       &b_bit_family,
                                                       &one_bit_family,
                                                       &one_permutation_family,
                                                       &super_shingle_family,
                                                       &super_run_family,
                                                       &sim_hash_family,
                                                       &hamming_family,
                                                       NULL};

struct sketcher {
    const struct sketch_family *family;
    void *state;
    uint64_t key_id;
    bool empty;
};

const struct sketch_family *sketch_family_find(const char *name)
{
    for (size_t i = 0; sketch_families[i]; i++)
        if (strcmp(sketch_families[i]->name, name) == 0)
            return sketch_families[i];
    return NULL;
}

void sketch_done(struct sketch *sketch)
{
    free(sketch->bytes);
    *sketch = (struct sketch){0};
}

int sketcher_new(const struct sketch_family *family, const uint8_t key[SKETCH_KEY_BYTES],
                 struct sketcher **ret_sketcher)
{
    _cleanup_(sketcher_free_p) struct sketcher *sketcher = calloc(1, sizeof(*sketcher));
    if (!sketcher)
        return -ENOMEM;
    sketcher->family = family;
    int r = sketch_key_derive(key, "key id", &sketcher->key_id, sizeof(sketcher->key_id));
    if (r == 0)
        r = family->state_new(key, &sketcher->state);
    if (r < 0)
        return r;
    sketcher_begin(sketcher);
    *ret_sketcher = TAKE_PTR(sketcher);
    return 0;
}

void sketcher_free(struct sketcher *sketcher)
{
    if (!sketcher)
        return;
    if (sketcher->state)
        sketcher->family->state_free(sketcher->state);
    free(sketcher);
}

void sketcher_begin(struct sketcher *sketcher)
{
    sketcher->empty = true;
    sketcher->family->begin(sketcher->state);
}

int sketcher_add(struct sketcher *sketcher, const uint64_t *elements, size_t n_elements)
{
    if (n_elements == 0)
        return 0;
    sketcher->empty = false;
    return sketcher->family->add(sketcher->state, elements, n_elements);
}

static uint64_t check_of(const uint8_t *bytes, size_t size_bytes)
{
    return XXH3_64bits_withSeed(bytes + PAYLOAD_AT, size_bytes - PAYLOAD_AT,
                                XXH3_64bits(bytes, CHECK_AT));
}

int sketcher_finish(struct sketcher *sketcher, struct sketch *ret_sketch)
{
    struct sketch_payload payload = {0};
    int r = sketcher->empty ? 0 : sketcher->family->finish(sketcher->state, &payload);
    if (r < 0)
        return r;
    size_t size = PAYLOAD_AT + payload.size_bytes;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return -ENOMEM;
    put_be16(bytes, sketcher->family->number);
    bytes[2] = SKETCH_VERSION;
    bytes[EMPTY_AT] = sketcher->empty;
    put_be32(bytes + 4, (uint32_t)payload.size_bytes);
    put_be64(bytes + KEY_AT, sketcher->key_id);
    if (payload.size_bytes)
        memcpy(bytes + PAYLOAD_AT, payload.bytes, payload.size_bytes);
    put_be64(bytes + CHECK_AT, check_of(bytes, size));
    *ret_sketch = (struct sketch){bytes, size};
    return 0;
}

static int open_sketch(const struct sketch *sketch, const struct sketch_family **ret_family,
                       struct sketch_payload *ret_payload)
{
    const uint8_t *p = sketch->bytes;
    if (sketch->size_bytes < PAYLOAD_AT || p[2] != SKETCH_VERSION)
        return -EUCLEAN;
    *ret_payload = (struct sketch_payload){p + PAYLOAD_AT, get_be32(p + 4)};
    if (sketch->size_bytes - PAYLOAD_AT != ret_payload->size_bytes)
        return -EUCLEAN;
    if (p[EMPTY_AT] > 1 || (p[EMPTY_AT] && ret_payload->size_bytes))
        return -EUCLEAN;
    if (get_be64(p + CHECK_AT) != check_of(p, sketch->size_bytes))
        return -EUCLEAN;
    for (size_t i = 0; sketch_families[i]; i++) {
        *ret_family = sketch_families[i];
        if ((*ret_family)->number == get_be16(p))
            return 0;
    }
    return -EUCLEAN;
}

static int open_both(const struct sketch *a, const struct sketch *b,
                     const struct sketch_family **ret_family, struct sketch_payload *ret_a,
                     struct sketch_payload *ret_b)
{
    const struct sketch_family *family_b;
    int r = open_sketch(a, ret_family, ret_a);
    if (r == 0)
        r = open_sketch(b, &family_b, ret_b);
    if (r < 0)
        return r;
    if (*ret_family != family_b || memcmp(a->bytes + KEY_AT, b->bytes + KEY_AT, 8) != 0)
        return -EPROTO;
    return 0;
}

int sketch_estimate(const struct sketch *a, const struct sketch *b, struct estimate *ret_estimate)
{
    struct sketch_payload payload_a, payload_b;
    const struct sketch_family *family;
    int r = open_both(a, b, &family, &payload_a, &payload_b);
    if (r < 0)
        return r;
    if (a->bytes[EMPTY_AT] || b->bytes[EMPTY_AT])
        return -ENODATA;
    return family->estimate(&payload_a, &payload_b, ret_estimate);
}

int sketch_containment(const struct sketch *a, const struct sketch *b,
                       struct estimate *ret_estimate)
{
    struct sketch_payload payload_a, payload_b;
    const struct sketch_family *family;
    int r = open_both(a, b, &family, &payload_a, &payload_b);
    if (r < 0)
        return r;
    if (!family->containment)
        return -EOPNOTSUPP;
    if (a->bytes[EMPTY_AT] || b->bytes[EMPTY_AT])
        return -ENODATA;
    return family->containment(&payload_a, &payload_b, ret_estimate);
}
