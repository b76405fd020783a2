#include "engine/cluster/sort_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 16, FEW = 24, PART = 16 << 10, PART_BITS = 12 };

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void sort_few(uint64_t *numbers, size_t n)
{
    if (n > FEW) {
        qsort(numbers, n, sizeof(*numbers), compare);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        uint64_t number = numbers[i];
        size_t at = i;
        for (; at > 0 && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

/* One pass into at most 2^most_bits buckets of `each` on average: from numbers to `to`. Returns how
 * many there are; ends[i] is where bucket i ends. */
static unsigned deal(const uint64_t *numbers, size_t n, uint64_t *to, size_t each,
                     unsigned most_bits, uint32_t *ends)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = numbers[i] < least ? numbers[i] : least;
        most = numbers[i] > most ? numbers[i] : most;
    }
    unsigned bits = 1;
    while (bits < most_bits && each << bits < n)
        bits++;
    unsigned used = most > least ? 64 - (unsigned)__builtin_clzll(most - least) : 1;
    unsigned shift = used > bits ? used - bits : 0;
    unsigned n_buckets = (unsigned)((most - least) >> shift) + 1;
    uint32_t sum = 0;

    memset(ends, 0, n_buckets * sizeof(*ends));
    for (size_t i = 0; i < n; i++)
        ends[(numbers[i] - least) >> shift]++;
    for (unsigned i = 0; i < n_buckets; i++) {
        uint32_t in_bucket = ends[i];
        ends[i] = sum;
        sum += in_bucket;
    }
    for (size_t i = 0; i < n; i++)
        to[ends[(numbers[i] - least) >> shift]++] = numbers[i];
    return n_buckets;
}

/* From numbers to `to`. */
static void sort_to(const uint64_t *numbers, size_t n, uint64_t *to)
{
    uint32_t ends[1 << BUCKET_BITS];
    unsigned n_buckets = deal(numbers, n, to, 4, BUCKET_BITS, ends);
    for (unsigned i = 0, from = 0; i < n_buckets; from = ends[i++])
        sort_few(to + from, ends[i] - from);
}

/* What does not fit into the cache twice is first dealt to parts that do. */
void sort_numbers(uint64_t *numbers, size_t n, uint64_t *scratch)
{
    uint32_t ends[1 << PART_BITS];
    if (n <= FEW || n > UINT32_MAX) {
        sort_few(numbers, n);
        return;
    }
    if (n <= 2 * (size_t)PART) {
        sort_to(numbers, n, scratch);
        memcpy(numbers, scratch, n * sizeof(*numbers));
        return;
    }
    unsigned n_parts = deal(numbers, n, scratch, PART, PART_BITS, ends);
    for (unsigned i = 0, from = 0; i < n_parts; from = ends[i++])
        if (ends[i] > from)
            sort_to(scratch + from, ends[i] - from, numbers + from);
}
