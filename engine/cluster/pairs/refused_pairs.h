/* Pairs of documents that were compared and do not resemble each other enough. Such a pair often
 * shares further fingerprints, and would be compared again for each. As many pairs are remembered
 * as there is room for; of two that fall on one place the later one is. Any threads at once. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_REFUSED_PAIRS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_REFUSED_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct refused_pairs {
    uint64_t *pairs; /* smaller number above the larger; 0: none */
    size_t n;        /* a power of two */
};

/* room_bytes: at most; 8 bytes a pair. Returns 0, -ENOMEM. */
int refused_pairs_init(size_t room_bytes, struct refused_pairs *ret_refused);
void refused_pairs_done(struct refused_pairs *refused); /* of zeroes, too */

static inline uint64_t refused_pair(uint32_t a, uint32_t b) /* different */
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static inline uint64_t *refused_place(const struct refused_pairs *refused, uint64_t pair)
{
    return &refused->pairs[(pair * 0x9e3779b97f4a7c15u >> 20) & (refused->n - 1)];
}

static inline bool refused_pairs_has(const struct refused_pairs *refused, uint32_t a, uint32_t b)
{
    uint64_t pair = refused_pair(a, b);
    return __atomic_load_n(refused_place(refused, pair), __ATOMIC_RELAXED) == pair;
}

static inline void refused_pairs_add(const struct refused_pairs *refused, uint32_t a, uint32_t b)
{
    uint64_t pair = refused_pair(a, b);
    __atomic_store_n(refused_place(refused, pair), pair, __ATOMIC_RELAXED);
}

#endif
