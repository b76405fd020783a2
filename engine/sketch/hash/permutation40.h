/* A keyed permutation of the numbers of 40 bits: four Feistel rounds over halves of 20 (Luby and
 * Rackoff 1988: with random round functions four rounds are a permutation that nobody tells from a
 * random one by few questions). It makes Rabin's fingerprints "behave as a random permutation"
 * (Broder et al. 1997, section 4) without a collision more.
 */
#ifndef KINFS_ENGINE_SKETCH_HASH_PERMUTATION40_H
#define KINFS_ENGINE_SKETCH_HASH_PERMUTATION40_H

#include <stdint.h>

#include "engine/sketch/hash/sketch_key.h"

enum { PERMUTATION40_ROUNDS = 4 };

struct permutation40 {
    uint64_t keys[PERMUTATION40_ROUNDS];
};

/* Returns 0 or -ENOMEM. */
static inline int permutation40_init(struct permutation40 *permutation,
                                     const uint8_t key[SKETCH_KEY_BYTES])
{
    return sketch_key_derive(key, "permutation of 40 bits", permutation, sizeof(*permutation));
}

/* The round function, of 20 bits to 20 bits. */
static inline uint32_t permutation40_round(uint64_t key, uint32_t half)
{
    uint64_t z = (half + key) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 29 ^ key) * 0x94d049bb133111eb;
    return (uint32_t)(z >> 44);
}

static inline uint64_t permute40(const struct permutation40 *permutation, uint64_t x)
{
    uint32_t left = (uint32_t)(x >> 20), right = x & 0xfffff;
    for (unsigned i = 0; i < PERMUTATION40_ROUNDS; i++) {
        uint32_t next = left ^ permutation40_round(permutation->keys[i], right);
        left = right;
        right = next;
    }
    return (uint64_t)left << 20 | right;
}

#endif
