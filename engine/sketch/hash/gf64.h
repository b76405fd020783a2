/* The field of 2^64 elements, GF(2)[x] / (x^64 + x^4 + x^3 + x + 1): bit i of a word is the
 * coefficient of x^i, addition is exclusive or. (That the polynomial is irreducible is a test of
 * shingle_hash, not a belief.)
 */
#ifndef KINFS_ENGINE_SKETCH_HASH_GF64_H
#define KINFS_ENGINE_SKETCH_HASH_GF64_H

#include <stdint.h>

/* A product without carries, 127 bits, to the element that it is: high * x^64 + low. As x^64 is
 * x^4 + x^3 + x + 1, high is added at four shifts; what that carries past bit 63, four bits, is
 * added to high before, and so comes in at the same four shifts. */
static inline uint64_t gf64_reduce(uint64_t high, uint64_t low)
{
    high ^= high >> 63 ^ high >> 61 ^ high >> 60;
    return low ^ high ^ high << 1 ^ high << 3 ^ high << 4;
}

static inline uint64_t gf64_double(uint64_t x)
{
    return x << 1 ^ (0x1b & -(x >> 63));
}

/* A product in portable C, four bits of a at a time: some 20 ns. */
static inline uint64_t gf64_multiply(uint64_t a, uint64_t b)
{
    uint64_t multiples[16] = {0, b};
    for (unsigned i = 2; i < 16; i += 2) {
        multiples[i] = gf64_double(multiples[i / 2]);
        multiples[i + 1] = multiples[i] ^ b;
    }
    uint64_t product = 0;
    for (int shift = 60; shift >= 0; shift -= 4)
        product = gf64_reduce(product >> 60, product << 4) ^ multiples[a >> shift & 15];
    return product;
}

#endif
