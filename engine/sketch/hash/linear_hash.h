/* h(x) = ax + b mod p with p = 2^61 - 1, 0 < a < p, 0 <= b < p: pairwise independent, cheap, and
 * what the literature takes for a random permutation (Haveliwala, Gionis and Indyk 2000, section
 * 4). It is none: of numbers in a row the ends are the least too often, so that k minima estimate
 * the resemblance of such sets with a bias that no k makes smaller. Elements are therefore hashed
 * before they come here (tabulation.h).
 */
#ifndef KINFS_ENGINE_SKETCH_HASH_LINEAR_HASH_H
#define KINFS_ENGINE_SKETCH_HASH_LINEAR_HASH_H

#include <stdint.h>

#define LINEAR_PRIME (((uint64_t)1 << 61) - 1)

struct linear_hash {
    uint64_t a, b;
};

/* The residue of any x modulo p. */
static inline uint64_t linear_residue(uint64_t x)
{
    x = (x & LINEAR_PRIME) + (x >> 61);
    return x >= LINEAR_PRIME ? x - LINEAR_PRIME : x;
}

/* The function that two random numbers of 64 bits choose. */
static inline struct linear_hash linear_hash_of(uint64_t random_a, uint64_t random_b)
{
    return (struct linear_hash){1 + random_a % (LINEAR_PRIME - 1), random_b % LINEAR_PRIME};
}

/* The value of h at x < p. */
static inline uint64_t linear_hash(const struct linear_hash *hash, uint64_t x)
{
    unsigned __int128 product = (unsigned __int128)hash->a * x + hash->b;
    uint64_t sum = ((uint64_t)product & LINEAR_PRIME) + (uint64_t)(product >> 61);
    return sum >= LINEAR_PRIME ? sum - LINEAR_PRIME : sum;
}

#endif
