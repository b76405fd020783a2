/* b-bit MinHash keeps only the lowest b bits of each of k minima (Li and Konig 2010, "b-bit minwise
 * hashing"). Slots whose minima differ agree in these bits by chance with probability 2^-b, so
 * P(agree) = 2^-b + (1 - 2^-b) r; for b = 1 that is (1 + r) / 2. The estimate is corrected for it:
 *
 *     r = (share - 2^-b) / (1 - 2^-b),  with the error of the share divided by 1 - 2^-b.
 *
 * Example: of 512 slots of 1 bit 416 agree, a share of 0.8125; the estimate is
 * (0.8125 - 0.5) / 0.5 = 0.625.
 *
 * The estimate is unbiased: for documents that have nothing in common it is below 0 half of the
 * time, and is handed out so; cut at 0 it would be biased.
 *
 * Two choices of k and b make 64 bytes. 64 slots of 8 bits have hardly more error than whole slots;
 * 512 slots of 1 bit are better where documents resemble each other much (at r = 0.95 an error of
 * .013 instead of .027).
 *
 * Cost: k multiplications an element (min_hash.c); a comparison is an exclusive or of 64 bytes.
 * Left out: the containment, which minima alone do not tell, and the paper's correction for sets
 * that are a noticeable share of all possible elements; here these are 2^61.
 */
#include <errno.h>

#include "engine/sketch/families/families.h"
#include "engine/sketch/families/min_hash.h"

enum { PAYLOAD_BYTES = 64, BYTE_K = PAYLOAD_BYTES, BIT_K = 8 * PAYLOAD_BYTES };

static void pack_bytes(const uint64_t *slots, uint8_t *payload)
{
    for (size_t i = 0; i < BYTE_K; i++)
        payload[i] = (uint8_t)slots[i];
}

static int byte_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    return min_hash_new(key, "8-bit min-hash", BYTE_K, pack_bytes, PAYLOAD_BYTES, ret_state);
}

static void pack_bits(const uint64_t *slots, uint8_t *payload)
{
    for (size_t i = 0; i < PAYLOAD_BYTES; i++) {
        payload[i] = 0;
        for (size_t bit = 0; bit < 8; bit++)
            payload[i] |= (uint8_t)((slots[8 * i + bit] & 1) << bit);
    }
}

static int bit_new(const uint8_t key[SKETCH_KEY_BYTES], void **ret_state)
{
    return min_hash_new(key, "1-bit min-hash", BIT_K, pack_bits, PAYLOAD_BYTES, ret_state);
}

static struct estimate corrected(uint32_t n_equal, uint32_t k, double chance)
{
    struct estimate estimate = estimate_of_trials(n_equal, k);
    estimate.value = (estimate.value - chance) / (1 - chance);
    estimate.error /= 1 - chance;
    return estimate;
}

static int byte_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                         struct estimate *ret_estimate)
{
    uint32_t n_equal = 0;
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < BYTE_K; i++)
        n_equal += a->bytes[i] == b->bytes[i];
    *ret_estimate = corrected(n_equal, BYTE_K, 1. / 256);
    return 0;
}

static int bit_estimate(const struct sketch_payload *a, const struct sketch_payload *b,
                        struct estimate *ret_estimate)
{
    uint32_t n_different = 0;
    if (a->size_bytes != PAYLOAD_BYTES || b->size_bytes != PAYLOAD_BYTES)
        return -EUCLEAN;
    for (size_t i = 0; i < PAYLOAD_BYTES; i++)
        n_different += (uint32_t)__builtin_popcount(a->bytes[i] ^ b->bytes[i]);
    *ret_estimate = corrected(BIT_K - n_different, BIT_K, 1. / 2);
    return 0;
}

const struct sketch_family b_bit_family = {
    .name = "8-bit",
    .summary = "8 bits of the least value under each of 64 permutations",
    .measure = SKETCH_RESEMBLANCE,
    .number = 4,
    .state_new = byte_new,
    .state_free = min_hash_free,
    .begin = min_hash_begin,
    .add = min_hash_add,
    .finish = min_hash_finish,
    .estimate = byte_estimate,
};

const struct sketch_family one_bit_family = {
    .name = "1-bit",
    .summary = "1 bit of the least value under each of 512 permutations",
    .measure = SKETCH_RESEMBLANCE,
    .number = 5,
    .state_new = bit_new,
    .state_free = min_hash_free,
    .begin = min_hash_begin,
    .add = min_hash_add,
    .finish = min_hash_finish,
    .estimate = bit_estimate,
};
