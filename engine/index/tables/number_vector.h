/* A growing array of numbers: sids, ids of clusters, fingerprints. Of one thread. Zero-initialised;
 * ends with number_vector_done(). */
#ifndef KINFS_ENGINE_INDEX_TABLES_NUMBER_VECTOR_H
#define KINFS_ENGINE_INDEX_TABLES_NUMBER_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_vector {
    uint64_t *numbers;
    size_t n_numbers, capacity;
};

int number_vector_push(struct number_vector *vector, uint64_t number); /* 0, -ENOMEM */
/* As push, but sorts and drops duplicates before it grows: memory follows the distinct numbers. The
 * order of the vector is not kept. */
int number_vector_push_set(struct number_vector *vector, uint64_t number);
/* For n pushes more, likewise. */
int number_vector_make_room(struct number_vector *vector, size_t n);
void number_vector_sort_unique(struct number_vector *vector);
/* The first `most` numbers of two ascending vectors of unique ones, as one more. Returns 0,
 * -ENOMEM.
 */
int number_vector_merge(const struct number_vector *a, const struct number_vector *b, size_t most,
                        struct number_vector *ret_merged);
bool number_vector_has(const struct number_vector *vector, uint64_t number); /* linear */
/* The place of a number in an ascending vector; SIZE_MAX: it is not there. */
size_t number_vector_place(const struct number_vector *vector, uint64_t number);
bool number_vector_finds(const struct number_vector *vector,
                         uint64_t number); /* of an ascending one */
void number_vector_done(struct number_vector *vector);

#endif
