/* The elements of one set, all of them: for families whose sketch is a sum over the set, which an
 * element that comes twice would spoil. Memory: 8 bytes for each that is added between two sorts,
 * and 8 more while sorting. */
#ifndef KINFS_ENGINE_SKETCH_FAMILIES_ELEMENT_SET_H
#define KINFS_ENGINE_SKETCH_FAMILIES_ELEMENT_SET_H

#include <stddef.h>
#include <stdint.h>

struct element_set {
    uint64_t *elements; /* after sort: ascending, each once */
    size_t n_elements, room;
    size_t n_sorted; /* the first so many are sorted and unique */
};

void element_set_clear(struct element_set *set); /* keeps the memory */
void element_set_done(struct element_set *set);

/* Returns 0 or -ENOMEM. */
int element_set_add(struct element_set *set, const uint64_t *elements, size_t n_elements);
void element_set_sort(struct element_set *set);

#endif
