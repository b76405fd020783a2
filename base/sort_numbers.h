/* A sort for numbers that are nearly uniform in the range they take, as fingerprints are: one pass
 * puts them into buckets of a few, each of which is then sorted. 30 to 60 million a second and core
 * while they fit into the cache. Numbers many of which are close together are sorted by the bytes
 * in which they differ. */
#ifndef KINFS_BASE_SORT_NUMBERS_H
#define KINFS_BASE_SORT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Sort ascending. scratch: as many, caller's. No allocation. */
void sort_numbers(uint64_t *numbers, size_t n, uint64_t *scratch);

#endif
