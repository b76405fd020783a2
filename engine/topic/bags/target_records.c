/* Records are sorted by 40 bits of their targets as numbers, which carry the place of the record
 * below; then runs of equal bits, nearly always of one target, are sorted by comparison.
 *
 * Example with one bit of the target for 40: targets 7, 2, 6 become the keys 1|0, 0|1, 1|2, sorted
 * 0|1, 1|0, 1|2; the run of the records 0 and 2 is sorted to 6, 7.
 *
 * Cost: a sort of numbers, a copy of each record, and a comparison sort of each target's words.
 * Left out: a sort by the word's bits, too, which would be for targets of very many fragments.
 */
#include "engine/topic/bags/target_records.h"

#include <stdlib.h>

#include "base/sort_numbers.h"

/* A key is 40 bits of the target and the place of its record. */
enum { PLACE_BITS = 24 };

static int compare(const void *a, const void *b)
{
    const struct target_record *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (x->word > y->word) - (x->word < y->word);
}

/* Records of one target come in their order for the most part, as bags are added. */
static void sort_run(struct target_record *records, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (compare(&records[i - 1], &records[i]) > 0) {
            qsort(records, n, sizeof(*records), compare);
            return;
        }
}

static void *sort(void *from, size_t n, void *scratch)
{
    const struct target_record *records = from;
    struct target_record *sorted = scratch;
    uint64_t *keys = (uint64_t *)(sorted + n);
    for (size_t i = 0; i < n; i++)
        keys[i] = records[i].target >> PLACE_BITS << PLACE_BITS | i;
    sort_numbers(keys, n, keys + n);
    for (size_t i = 0; i < n; i++)
        sorted[i] = records[keys[i] & (((size_t)1 << PLACE_BITS) - 1)];
    for (size_t begin = 0, i = 1; i <= n; i++) {
        if (i < n && keys[i] >> PLACE_BITS == keys[begin] >> PLACE_BITS)
            continue;
        sort_run(sorted + begin, i - begin);
        begin = i;
    }
    return sorted;
}

const struct sorting target_records_sorting = {
    .record_bytes = sizeof(struct target_record),
    .scratch_bytes = sizeof(struct target_record) + 2 * sizeof(uint64_t),
    .most = ((size_t)1 << PLACE_BITS) - 1,
    .sort = sort,
    .compare = compare,
};
