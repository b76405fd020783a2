/* A growing array of sids (or of cluster ids). */
#ifndef KINFS_ENGINE_INDEX_TABLES_SID_VECTOR_H
#define KINFS_ENGINE_INDEX_TABLES_SID_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sid_vector {
    uint64_t *sids;
    size_t n_sids, capacity;
};

int sid_vector_push(struct sid_vector *vector, uint64_t sid); /* 0, -ENOMEM */
/* As push, but sorts and drops duplicates before it grows: memory follows the distinct sids. The
 * order of the vector is not kept. */
int sid_vector_push_set(struct sid_vector *vector, uint64_t sid);
/* For n pushes more, likewise. */
int sid_vector_make_room(struct sid_vector *vector, size_t n);
void sid_vector_sort_unique(struct sid_vector *vector);
/* The first `most` sids of two ascending vectors of unique ones, as one more. Returns 0, -ENOMEM.
 */
int sid_vector_merge(const struct sid_vector *a, const struct sid_vector *b, size_t most,
                     struct sid_vector *ret_merged);
bool sid_vector_has(const struct sid_vector *vector, uint64_t sid); /* linear */
/* Where a sid is in an ascending one; SIZE_MAX: it is not. */
size_t sid_vector_place(const struct sid_vector *vector, uint64_t sid);
bool sid_vector_finds(const struct sid_vector *vector, uint64_t sid); /* of an ascending one */
void sid_vector_done(struct sid_vector *vector);

#endif
