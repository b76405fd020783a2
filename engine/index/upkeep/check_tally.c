#include "engine/index/upkeep/check_tally.h"

#include <stdlib.h>

#include <xxhash.h>

enum { N_BUCKETS = 1 << 16 };

struct check_tally {
    struct {
        uint64_t low, high;
    } sums[N_BUCKETS];
};

struct check_tally *check_tally_new(void)
{
    return calloc(1, sizeof(struct check_tally));
}

void check_tally_free(struct check_tally *tally)
{
    free(tally);
}

void check_tally_add(struct check_tally *tally, uint64_t number, const void *thing, size_t n)
{
    XXH128_hash_t hash = XXH3_128bits(thing, n);
    tally->sums[number % N_BUCKETS].low += hash.low64;
    tally->sums[number % N_BUCKETS].high += hash.high64;
}

void check_tally_take(struct check_tally *tally, uint64_t number, const void *thing, size_t n)
{
    XXH128_hash_t hash = XXH3_128bits(thing, n);
    tally->sums[number % N_BUCKETS].low -= hash.low64;
    tally->sums[number % N_BUCKETS].high -= hash.high64;
}

bool check_tally_is_even(const struct check_tally *tally, uint64_t number)
{
    return tally->sums[number % N_BUCKETS].low == 0 && tally->sums[number % N_BUCKETS].high == 0;
}

bool check_tally_all_even(const struct check_tally *tally)
{
    for (uint64_t i = 0; i < N_BUCKETS; i++)
        if (!check_tally_is_even(tally, i))
            return false;
    return true;
}
