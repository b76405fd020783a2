/* A bucket sort of numbers that are nearly uniform between the least and the greatest: one pass
 * deals them to buckets of four on average, which an insertion sort puts into order. A bucket of
 * more than 24, which uniform numbers do not make, is sorted by those bytes in which its numbers
 * differ.
 *
 * Example with four buckets: 9 1 12 4 lie between 1 and 12, and (number - 1) >> 2 is the bucket: 1
 * and 4 go to bucket 0, 9 and 12 to bucket 2.
 *
 * Cost: linear. Numbers that do not fit into the cache twice are first dealt to parts of 16 Ki that
 * do. The stack holds 256 KiB of bucket ends. Left out: comparison sorts, whose branches on random
 * numbers are mispredicted every other time.
 */
#include "base/sort_numbers.h"

#include <string.h>

enum { BUCKET_BITS = 16, FEW = 24, PART = 16 << 10, PART_BITS = 12 };

static void insert_each(uint64_t *numbers, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        uint64_t number = numbers[i];
        size_t at = i;
        for (; at > 0 && numbers[at - 1] > number; at--)
            numbers[at] = numbers[at - 1];
        numbers[at] = number;
    }
}

/* Numbers that are close together are sorted byte by byte, by the bytes in which they differ. */
static void sort_bytes(uint64_t *numbers, size_t n, uint64_t *scratch)
{
    uint64_t differing = 0, *from = numbers, *to = scratch;
    for (size_t i = 1; i < n; i++)
        differing |= numbers[i] ^ numbers[0];
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t ends[256] = {0}, sum = 0;
        if (!(differing >> shift & 255))
            continue;
        for (size_t i = 0; i < n; i++)
            ends[from[i] >> shift & 255]++;
        for (unsigned i = 0; i < 256; i++) {
            size_t of_byte = ends[i];
            ends[i] = sum;
            sum += of_byte;
        }
        for (size_t i = 0; i < n; i++)
            to[ends[from[i] >> shift & 255]++] = from[i];
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != numbers)
        memcpy(numbers, from, n * sizeof(*numbers));
}

static void sort_few(uint64_t *numbers, size_t n, uint64_t *scratch)
{
    if (n > FEW)
        sort_bytes(numbers, n, scratch);
    else
        insert_each(numbers, n);
}

/* Deals numbers to at most 2^most_bits buckets of `each` on average, which are one after the other
 * in `to`. Returns the number of buckets; ends[i] is the end of bucket i. */
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

/* Sorts numbers into `to`; `numbers` is scratch afterwards. */
static void sort_to(uint64_t *numbers, size_t n, uint64_t *to)
{
    uint32_t ends[1 << BUCKET_BITS];
    unsigned n_buckets = deal(numbers, n, to, 4, BUCKET_BITS, ends);
    for (unsigned i = 0, from = 0; i < n_buckets; from = ends[i++])
        sort_few(to + from, ends[i] - from, numbers + from);
}

/* Numbers that do not fit into the cache twice are first dealt to parts that do. */
void sort_numbers(uint64_t *numbers, size_t n, uint64_t *scratch)
{
    uint32_t ends[1 << PART_BITS];
    if (n <= FEW || n > UINT32_MAX) {
        sort_few(numbers, n, scratch);
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
