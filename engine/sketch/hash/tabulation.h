/* Simple tabulation: 64 bits to 64 bits by eight random tables, one a byte, whose entries are
 * xored. 3-independent, and as good as a random function for min-hash: its chance that an element
 * of n has the least value is within O(log^2 n / n^(1/8)) of 1/n (Patrascu and Thorup 2012, "The
 * power of simple tabulation hashing"), where linear functions keep a constant bias on elements
 * that stand in a row.
 */
#ifndef KINFS_ENGINE_SKETCH_HASH_TABULATION_H
#define KINFS_ENGINE_SKETCH_HASH_TABULATION_H

#include <stdint.h>

#include "engine/sketch/hash/sketch_key.h"

struct tabulation {
    uint64_t tables[8][256];
};

/* Returns 0 or -ENOMEM; purpose as in sketch_key_derive(). */
static inline int tabulation_init(struct tabulation *tabulation,
                                  const uint8_t key[SKETCH_KEY_BYTES], const char *purpose)
{
    return sketch_key_derive(key, purpose, tabulation, sizeof(*tabulation));
}

static inline uint64_t tabulate(const struct tabulation *tabulation, uint64_t x)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < 8; i++)
        hash ^= tabulation->tables[i][x >> 8 * i & 0xff];
    return hash;
}

#endif
