/* The table of refused pairs has one place for each pair by a hash of it, and a pair overwrites the
 * one that was there: it is a cache, which may forget and never lies. A place is one word, written
 * and read by atomic operations, so threads need no lock.
 *
 * Example: the pair (7, 3) is the word 3 << 32 | 7. A pair that was overwritten is compared again,
 * with the same result. Cost: 8 bytes a place, one cache miss a question. Left out: chains, which
 * would need memory without a bound, or locks.
 */
#include "engine/cluster/pairs/refused_pairs.h"

#include <errno.h>

#include "engine/cluster/large/large_array.h"

enum { MOST_PAIRS = 1 << 25 };

int refused_pairs_init(size_t room_bytes, struct refused_pairs *ret_refused)
{
    struct refused_pairs refused = {.n = 1};
    while (refused.n < MOST_PAIRS && 2 * refused.n * sizeof(uint64_t) <= room_bytes)
        refused.n *= 2;
    refused.pairs = large_array_new(refused.n * sizeof(uint64_t));
    if (!refused.pairs)
        return -ENOMEM;
    *ret_refused = refused;
    return 0;
}

void refused_pairs_done(struct refused_pairs *refused)
{
    large_array_free(refused->pairs, refused->n * sizeof(uint64_t));
    *refused = (struct refused_pairs){0};
}
