/* A set as an array that is sorted now and then: elements are appended, and sorting makes them
 * ascending and unique.
 *
 * Fingerprints are random, so four passes of a radix sort over the bytes of the upper halves put
 * nearly all of them into order, and an insertion sort puts right the few that agree there. Where
 * it has too much to move, the elements are not random, and all eight bytes are sorted.
 *
 * Example: 0x02..07, 0x01..05, 0x02..03 (upper and lower halves) are ordered by the upper halves to
 * 0x01..05, 0x02..07, 0x02..03; the insertion sort swaps the last two.
 *
 * Cost: n elements take some five passes over 8 n bytes and as much memory again while sorting.
 * Memory is doubled only where sorting has not made half of it free: each sort is paid for by as
 * many additions, and there is room for some four times the distinct elements at most.
 *
 * Left out: a hash table, which would use as much memory and leave the elements unsorted.
 */
#include "engine/sketch/families/element_set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

enum { FIRST_ROOM = 1024, MANY = 2048 };

void element_set_clear(struct element_set *set)
{
    set->n_elements = set->n_sorted = 0;
}

void element_set_done(struct element_set *set)
{
    free(set->elements);
    *set = (struct element_set){0};
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A radix sort, least significant byte first, that begins at byte `first` (0: the lowest) and moves
 * the elements to and fro between the two arrays. Returns the array that holds the result. */
static uint64_t *sort_by_bytes(uint64_t *from, uint64_t *to, size_t n, unsigned first)
{
    size_t starts[8][256] = {0};
    for (size_t i = 0; i < n; i++)
        for (unsigned byte = first; byte < 8; byte++)
            starts[byte][from[i] >> 8 * byte & 255]++;
    for (unsigned byte = first; byte < 8; byte++) {
        size_t *start = starts[byte], sum = 0;
        if (start[from[0] >> 8 * byte & 255] == n)
            continue; /* all elements have the same byte here */
        for (size_t value = 0; value < 256; value++) {
            size_t n_here = start[value];
            start[value] = sum;
            sum += n_here;
        }
        for (size_t i = 0; i < n; i++)
            to[start[from[i] >> 8 * byte & 255]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    return from;
}

/* An insertion sort of elements that are nearly sorted. Returns false when it gave up, as they were
 * not. */
static bool sort_neighbours(uint64_t *elements, size_t n)
{
    size_t n_moves = 0;
    for (size_t i = 1; i < n && n_moves < n; i++) {
        uint64_t element = elements[i];
        size_t at = i;
        for (; at > 0 && elements[at - 1] > element; at--)
            elements[at] = elements[at - 1];
        elements[at] = element;
        n_moves += i - at;
    }
    return n_moves < n;
}

/* The upper halves of fingerprints tell nearly all of them apart, so they are sorted first and
 * alone. */
static uint64_t *sort_many(uint64_t *elements, uint64_t *scratch, size_t n)
{
    uint64_t *sorted = sort_by_bytes(elements, scratch, n, 4);
    if (sort_neighbours(sorted, n))
        return sorted;
    return sort_by_bytes(sorted, sorted == elements ? scratch : elements, n, 0);
}

void element_set_sort(struct element_set *set)
{
    size_t n = 0;
    if (set->n_sorted == set->n_elements)
        return;
    _cleanup_free_ uint64_t *scratch =
        set->n_elements < MANY ? NULL : reallocarray(NULL, set->n_elements, sizeof(*scratch));
    const uint64_t *sorted = set->elements;
    if (scratch)
        sorted = sort_many(set->elements, scratch, set->n_elements);
    else
        qsort(set->elements, set->n_elements, sizeof(*set->elements), compare);
    for (size_t i = 0; i < set->n_elements; i++)
        if (n == 0 || set->elements[n - 1] != sorted[i])
            set->elements[n++] = sorted[i];
    set->n_elements = set->n_sorted = n;
}

/* Memory grows with the number of distinct elements, not with the number of additions: it is
 * doubled only where sorting has not made half of it free. */
static int make_room(struct element_set *set, size_t n_more)
{
    if (n_more <= set->room - set->n_elements)
        return 0;
    element_set_sort(set);
    size_t room = set->room ? set->room : FIRST_ROOM;
    while (room / 2 < set->n_elements || room - set->n_elements < n_more)
        if (__builtin_mul_overflow(room, 2, &room))
            return -ENOMEM;
    if (room == set->room)
        return 0;
    uint64_t *elements = reallocarray(set->elements, room, sizeof(*elements));
    if (!elements)
        return -ENOMEM;
    set->elements = elements;
    set->room = room;
    return 0;
}

int element_set_add(struct element_set *set, const uint64_t *elements, size_t n_elements)
{
    int r = make_room(set, n_elements);
    if (r < 0)
        return r;
    memcpy(set->elements + set->n_elements, elements, n_elements * sizeof(*elements));
    set->n_elements += n_elements;
    return 0;
}
