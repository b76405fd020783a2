#include "engine/cluster/key_lists.h"

#include <errno.h>

#include "engine/cluster/sort_numbers.h"

unsigned key_number_bits(uint32_t n_documents)
{
    unsigned bits = KEY_PARTITION_BITS; /* fewer would keep no more of a key */
    while (bits < 32 && (uint64_t)1 << bits < n_documents)
        bits++;
    return bits;
}

void key_partition_done(struct key_partition *partition)
{
    free(partition->records);
    free(partition->scratch);
    free(partition->list);
    *partition = (struct key_partition){0};
}

int key_partition_load(struct key_partition *partition, struct spill *spill, uint32_t number,
                       unsigned number_bits)
{
    size_t n = spill_partition_count(spill, number);
    if (n > partition->room) {
        key_partition_done(partition);
        size_t room = n + n / 8;
        partition->records = malloc(room * sizeof(uint64_t));
        partition->scratch = malloc(room * sizeof(uint64_t));
        partition->list = malloc(room * sizeof(uint32_t));
        if (!partition->records || !partition->scratch || !partition->list)
            return -ENOMEM;
        partition->room = room;
    }
    partition->n = partition->at = 0;
    partition->number_bits = number_bits;
    int r = n ? spill_take(spill, number, partition->records) : 0;
    if (r < 0)
        return r;
    partition->n = n;
    sort_numbers(partition->records, n, partition->scratch);
    return 0;
}

size_t key_partition_next(struct key_partition *partition, const uint64_t *nodes)
{
    const uint64_t *records = partition->records;
    uint64_t mask = ((uint64_t)1 << partition->number_bits) - 1;
    while (partition->at < partition->n) {
        size_t from = partition->at, until = from + 1;
        uint64_t key = records[from] & ~mask;
        while (until < partition->n && (records[until] & ~mask) == key)
            until++;
        partition->at = until;
        size_t n = 0;
        for (size_t i = from; until - from > 1 && i < until; i++) {
            uint32_t document = (uint32_t)(records[i] & mask);
            if (mark_is_set(nodes, document) && (n == 0 || partition->list[n - 1] != document))
                partition->list[n++] = document;
        }
        if (n > 1)
            return n;
    }
    return 0;
}
