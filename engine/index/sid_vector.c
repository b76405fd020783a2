#include "engine/index/sid_vector.h"

#include <errno.h>
#include <stdlib.h>

static int grow(struct sid_vector *vector)
{
    size_t capacity = vector->capacity ? 2 * vector->capacity : 16;
    uint64_t *sids = reallocarray(vector->sids, capacity, sizeof(*sids));
    if (!sids)
        return -ENOMEM;
    vector->sids = sids;
    vector->capacity = capacity;
    return 0;
}

int sid_vector_push(struct sid_vector *vector, uint64_t sid)
{
    if (vector->n_sids == vector->capacity) {
        int r = grow(vector);
        if (r < 0)
            return r;
    }
    vector->sids[vector->n_sids++] = sid;
    return 0;
}

int sid_vector_push_set(struct sid_vector *vector, uint64_t sid)
{
    if (vector->n_sids == vector->capacity) {
        sid_vector_sort_unique(vector);
        if (vector->n_sids >= vector->capacity / 2) {
            int r = grow(vector);
            if (r < 0)
                return r;
        }
    }
    vector->sids[vector->n_sids++] = sid;
    return 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void sid_vector_sort_unique(struct sid_vector *vector)
{
    size_t n = 0;

    if (vector->n_sids < 2)
        return;
    qsort(vector->sids, vector->n_sids, sizeof(*vector->sids), compare);
    for (size_t i = 1; i < vector->n_sids; i++)
        if (vector->sids[i] != vector->sids[n])
            vector->sids[++n] = vector->sids[i];
    vector->n_sids = n + 1;
}

bool sid_vector_has(const struct sid_vector *vector, uint64_t sid)
{
    for (size_t i = 0; i < vector->n_sids; i++)
        if (vector->sids[i] == sid)
            return true;
    return false;
}

void sid_vector_done(struct sid_vector *vector)
{
    free(vector->sids);
    *vector = (struct sid_vector){0};
}
