#include "engine/index/tables/sid_vector.h"

#include <errno.h>
#include <stdlib.h>

#include "base/room.h"

int sid_vector_push(struct sid_vector *vector, uint64_t sid)
{
    if (!MAKE_ROOM(vector->sids, vector->capacity, vector->n_sids + 1))
        return -ENOMEM;
    vector->sids[vector->n_sids++] = sid;
    return 0;
}

int sid_vector_push_set(struct sid_vector *vector, uint64_t sid)
{
    if (vector->n_sids == vector->capacity) {
        sid_vector_sort_unique(vector);
        if (vector->n_sids >= vector->capacity / 2 &&
            !MAKE_ROOM(vector->sids, vector->capacity, vector->capacity + 1))
            return -ENOMEM;
    }
    vector->sids[vector->n_sids++] = sid;
    return 0;
}

int sid_vector_make_room(struct sid_vector *vector, size_t n)
{
    if (n <= vector->capacity - vector->n_sids)
        return 0;
    sid_vector_sort_unique(vector);
    const size_t capacity = vector->n_sids ? 2 * (vector->n_sids + n) : n;
    if (capacity <= vector->capacity)
        return 0;
    uint64_t *larger = reallocarray(vector->sids, capacity, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    vector->sids = larger;
    vector->capacity = capacity;
    return 0;
}

/* What one posting list has comes so. */
static bool is_ascending(const struct sid_vector *vector)
{
    for (size_t i = 1; i < vector->n_sids; i++)
        if (vector->sids[i] <= vector->sids[i - 1])
            return false;
    return true;
}

/* What was noted in memory comes so, the latest first. */
static bool sort_descending(struct sid_vector *vector)
{
    const size_t n = vector->n_sids;

    for (size_t i = 1; i < n; i++)
        if (vector->sids[i] >= vector->sids[i - 1])
            return false;
    for (size_t i = 0; i < n / 2; i++) {
        const uint64_t sid = vector->sids[i];
        vector->sids[i] = vector->sids[n - 1 - i];
        vector->sids[n - 1 - i] = sid;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique_by_comparing(struct sid_vector *vector)
{
    size_t n = 0;
    qsort(vector->sids, vector->n_sids, sizeof(*vector->sids), compare);
    for (size_t i = 1; i < vector->n_sids; i++)
        if (vector->sids[i] != vector->sids[n])
            vector->sids[++n] = vector->sids[i];
    vector->n_sids = n + 1;
}

/* Sids are counted up, so those of long posting lists stand close together: a bit for each of their
 * range, set and read off. Returns false, with nothing changed, when that is too wide. */
static bool sort_unique_by_bits(struct sid_vector *vector)
{
    enum { WORTH_IT = 256, BITS = 64 };
    uint64_t min = UINT64_MAX, max = 0;

    if (vector->n_sids < WORTH_IT)
        return false;
    for (size_t i = 0; i < vector->n_sids; i++) {
        uint64_t sid = vector->sids[i];
        min = sid < min ? sid : min;
        max = sid > max ? sid : max;
    }
    uint64_t n_words = (max - min) / BITS + 1;
    uint64_t *words = n_words <= vector->n_sids ? calloc(n_words, sizeof(*words)) : NULL;
    if (!words)
        return false;
    for (size_t i = 0; i < vector->n_sids; i++) {
        uint64_t at = vector->sids[i] - min;
        words[at / BITS] |= UINT64_C(1) << at % BITS;
    }
    vector->n_sids = 0;
    for (uint64_t i = 0; i < n_words; i++)
        for (uint64_t word = words[i]; word; word &= word - 1)
            vector->sids[vector->n_sids++] = min + i * BITS + (uint64_t)__builtin_ctzll(word);
    free(words);
    return true;
}

void sid_vector_sort_unique(struct sid_vector *vector)
{
    if (!is_ascending(vector) && !sort_descending(vector) && !sort_unique_by_bits(vector))
        sort_unique_by_comparing(vector);
}

int sid_vector_merge(const struct sid_vector *a, const struct sid_vector *b, size_t most,
                     struct sid_vector *ret_merged)
{
    size_t n = a->n_sids + b->n_sids < most ? a->n_sids + b->n_sids : most, i = 0, k = 0, at = 0;
    uint64_t *sids = malloc((n + 1) * sizeof(*sids));

    if (!sids)
        return -ENOMEM;
    while (at < n && (i < a->n_sids || k < b->n_sids)) {
        const bool of_b = i == a->n_sids || (k < b->n_sids && b->sids[k] < a->sids[i]);
        const uint64_t sid = of_b ? b->sids[k] : a->sids[i];
        i += i < a->n_sids && a->sids[i] == sid;
        k += k < b->n_sids && b->sids[k] == sid;
        sids[at++] = sid;
    }
    *ret_merged = (struct sid_vector){sids, at, n + 1};
    return 0;
}

bool sid_vector_has(const struct sid_vector *vector, uint64_t sid)
{
    for (size_t i = 0; i < vector->n_sids; i++)
        if (vector->sids[i] == sid)
            return true;
    return false;
}

size_t sid_vector_place(const struct sid_vector *vector, uint64_t sid)
{
    size_t low = 0, high = vector->n_sids;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vector->sids[middle] < sid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < vector->n_sids && vector->sids[low] == sid ? low : SIZE_MAX;
}

bool sid_vector_finds(const struct sid_vector *vector, uint64_t sid)
{
    return sid_vector_place(vector, sid) != SIZE_MAX;
}

void sid_vector_done(struct sid_vector *vector)
{
    free(vector->sids);
    *vector = (struct sid_vector){0};
}
