#include "engine/cluster/sort_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 16, FEW = 24 };

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

/* One pass into at most 2^16 buckets: from numbers to scratch. Returns whether there was one to be
 * made: starts[i] is then where bucket i ends. */
static unsigned deal(const uint64_t *numbers, size_t n, uint64_t *scratch, uint32_t *starts)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        least = numbers[i] < least ? numbers[i] : least;
        most = numbers[i] > most ? numbers[i] : most;
    }
    unsigned bits = 1;
    while (bits < BUCKET_BITS && (size_t)4 << bits < n)
        bits++;
    unsigned used = most > least ? 64 - (unsigned)__builtin_clzll(most - least) : 1;
    unsigned shift = used > bits ? used - bits : 0;
    unsigned n_buckets = (unsigned)((most - least) >> shift) + 1;
    uint32_t sum = 0;

    memset(starts, 0, n_buckets * sizeof(*starts));
    for (size_t i = 0; i < n; i++)
        starts[(numbers[i] - least) >> shift]++;
    for (unsigned i = 0; i < n_buckets; i++) {
        uint32_t in_bucket = starts[i];
        starts[i] = sum;
        sum += in_bucket;
    }
    for (size_t i = 0; i < n; i++)
        scratch[starts[(numbers[i] - least) >> shift]++] = numbers[i];
    return n_buckets;
}

void sort_numbers(uint64_t *numbers, size_t n, uint64_t *scratch)
{
    uint32_t ends[1 << BUCKET_BITS];
    if (n <= FEW || n > UINT32_MAX) {
        sort_few(numbers, n);
        return;
    }
    unsigned n_buckets = deal(numbers, n, scratch, ends);
    for (unsigned i = 0, from = 0; i < n_buckets; from = ends[i++])
        sort_few(scratch + from, ends[i] - from);
    memcpy(numbers, scratch, n * sizeof(*numbers));
}
