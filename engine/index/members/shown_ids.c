/* A balanced Feistel network with SipHash-2-4 for its function, over as many bits as the numbers
 * have; what falls out of their range is permuted again until it is in it (Black and Rogaway,
 * "Ciphers with arbitrary finite domains", 2002). */
#include "engine/index/members/shown_ids.h"

#include "base/bytes.h"
#include "engine/index/members/cluster_ids.h"

enum { ROUNDS = 8 };

/* From first to 2^bits - 1. */
struct range {
    unsigned bits;
    uint64_t first;
};

static const struct range small = {32, 1}, large = {CLUSTERING_SHIFT, UINT64_C(1) << 32};

static const struct range *range_of(uint64_t id)
{
    if (id < small.first || id >> large.bits)
        return NULL;
    return id >> small.bits ? &large : &small;
}

static uint64_t rotated(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

static void sip_rounds(uint64_t v[4], int n)
{
    while (n-- > 0) {
        v[0] += v[1], v[1] = rotated(v[1], 13) ^ v[0], v[0] = rotated(v[0], 32);
        v[2] += v[3], v[3] = rotated(v[3], 16) ^ v[2];
        v[0] += v[3], v[3] = rotated(v[3], 21) ^ v[0];
        v[2] += v[1], v[1] = rotated(v[1], 17) ^ v[2], v[2] = rotated(v[2], 32);
    }
}

/* SipHash-2-4 of the eight bytes of a number, the lowest first. */
static uint64_t siphash(const uint64_t key[2], uint64_t message)
{
    const uint64_t last = UINT64_C(8) << 56; /* how many bytes there were, and none of them left */
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    v[3] ^= message;
    sip_rounds(v, 2);
    v[0] ^= message;
    v[3] ^= last;
    sip_rounds(v, 2);
    v[0] ^= last;
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* The mask that the half that stays puts on the other. */
static uint64_t mask(const struct shown_ids *ids, const struct range *range, unsigned round,
                     uint64_t half)
{
    const uint64_t which = (uint64_t)range->bits << 8 | round;
    return siphash(ids->key, which << 48 | half) & ((UINT64_C(1) << range->bits / 2) - 1);
}

static uint64_t permute(const struct shown_ids *ids, const struct range *range, uint64_t id)
{
    const unsigned half_bits = range->bits / 2;
    uint64_t left = id >> half_bits, right = id & ((UINT64_C(1) << half_bits) - 1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t was = left;
        left = right;
        right = was ^ mask(ids, range, round, right);
    }
    return left << half_bits | right;
}

static uint64_t permute_back(const struct shown_ids *ids, const struct range *range, uint64_t id)
{
    const unsigned half_bits = range->bits / 2;
    uint64_t left = id >> half_bits, right = id & ((UINT64_C(1) << half_bits) - 1);
    for (unsigned round = ROUNDS; round-- > 0;) {
        uint64_t was = right;
        right = left;
        left = was ^ mask(ids, range, round, left);
    }
    return left << half_bits | right;
}

void shown_ids_init(struct shown_ids *ids, const struct policy *policy)
{
    uint8_t bytes[POLICY_KEY_BYTES];
    policy_derive(policy, "kinfs shown ids", bytes);
    ids->key[0] = get_be64(bytes);
    ids->key[1] = get_be64(bytes + 8);
}

/* The base that a clustering's ids lie above, and stay above. */
static uint64_t base_of(uint64_t id)
{
    return clustering_base(cluster_clustering(id));
}

uint64_t shown_ids_show(const struct shown_ids *ids, uint64_t id)
{
    const uint64_t base = base_of(id);
    const struct range *range = range_of(id - base);
    if (!range || cluster_clustering(id) > CLUSTERING_MAX)
        return 0;
    id -= base;
    do
        id = permute(ids, range, id);
    while (id < range->first);
    return base | id;
}

uint64_t shown_ids_read(const struct shown_ids *ids, uint64_t shown)
{
    const uint64_t base = base_of(shown);
    const struct range *range = range_of(shown - base);
    if (!range || cluster_clustering(shown) > CLUSTERING_MAX)
        return 0;
    shown -= base;
    do
        shown = permute_back(ids, range, shown);
    while (shown < range->first);
    return base | shown;
}
