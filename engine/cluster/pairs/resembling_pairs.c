#include "engine/cluster/pairs/resembling_pairs.h"

#include "engine/cluster/large/sorted_partition.h"

struct giving {
    unsigned number_bits;
    uint64_t last; /* the pair before; 0 is none, as no document is paired with itself */
    resembling_pair_fn take;
    void *user;
};

static int give(void *user, const void *record)
{
    struct giving *giving = user;
    const uint64_t pair = *(const uint64_t *)record;
    const unsigned bits = giving->number_bits;
    const uint64_t numbers = ((uint64_t)1 << bits) - 1;
    if (pair == giving->last)
        return 0;
    giving->last = pair;
    return giving->take(giving->user, (uint32_t)(pair >> bits & numbers),
                        (uint32_t)(pair & numbers),
                        (double)(RESEMBLING_UNITS - (pair >> 2 * bits)) / RESEMBLING_UNITS);
}

int resembling_pairs_each(struct spill *spill, unsigned number_bits, struct scratch_file *runs,
                          size_t room_bytes, resembling_pair_fn take, void *user)
{
    _cleanup_(sorted_partition_done) struct sorted_partition sorted = {0};
    struct giving giving = {.number_bits = number_bits, .take = take, .user = user};
    int r = sorted_partition_init(&sorting_numbers, spill, runs, room_bytes, &sorted);
    for (uint32_t i = 0; r == 0 && i < RESEMBLING_PARTITIONS; i++)
        r = sorted_partition_each(&sorted, i, give, &giving);
    return r;
}
