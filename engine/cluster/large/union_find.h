/* Disjoint sets of 0..n-1 with path halving and union by the smaller root, so that a set's root is
 * its smallest member (Broder et al. 1997, section 4, phase 4).
 *
 * Any number of threads may ask and join at once, without a lock: only a root is hooked, under a
 * smaller one and by compare and swap, and any other store replaces a parent by another ancestor.
 * Joined elements stay joined, in whatever order; the sets at the end depend on the pairs alone.
 * (Jayanti and Tarjan 2021, hooking by index.) */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_UNION_FIND_H
#define KINFS_ENGINE_CLUSTER_LARGE_UNION_FIND_H

#include <stddef.h>
#include <stdint.h>

struct union_find {
    uint32_t *parent; /* 4 bytes an element */
    size_t n;
};

int union_find_init(struct union_find *sets, size_t n); /* 0, -ENOMEM, -EOVERFLOW past 2^32-1 */
void union_find_done(struct union_find *sets);
uint32_t union_find_root(struct union_find *sets, uint32_t x);
/* Returns 1 when two sets became one, 0 when they were one already. */
int union_find_join(struct union_find *sets, uint32_t x, uint32_t y);

#endif
