/* A set as an array that is sorted now and then: elements are appended, and sorting makes them
 * ascending and unique.
 *
 * Cost: that of sort_numbers(), with as much memory again while sorting, or of qsort(3) without it.
 * Memory is doubled only where sorting has not made half of it free: each sort is paid for by as
 * many additions, and there is room for some four times the distinct elements at most.
 *
 * Left out: a hash table, which would use as much memory and leave the elements unsorted.
 */
#include "engine/sketch/families/element_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sort_numbers.h"

enum { FIRST_ROOM = 1024 };

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

void element_set_sort(struct element_set *set)
{
    size_t n = 0;
    if (set->n_sorted == set->n_elements)
        return;
    _cleanup_free_ uint64_t *scratch = reallocarray(NULL, set->n_elements, sizeof(*scratch));
    if (scratch)
        sort_numbers(set->elements, set->n_elements, scratch);
    else
        qsort(set->elements, set->n_elements, sizeof(*set->elements), compare);
    for (size_t i = 0; i < set->n_elements; i++)
        if (n == 0 || set->elements[n - 1] != set->elements[i])
            set->elements[n++] = set->elements[i];
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
