/* The k signatures of a draw are put into one number, of which as many of the upper bits are kept
 * as the node's number leaves of 64.
 *
 * Example with k = 3: the node 5 of 1,000 has the signatures 1 2 3; the number is the upper 54 bits
 * of mix64(((1 m + 2) m + 3) m ..) and 10 bits of 5. Sorted, all that agree stand together, in the
 * order of nodes.
 *
 * Cost: k multiplications and a mix64() a node and draw, some 3 ns. Left out: all 72 bits of the
 * signatures, which would make records of 16 bytes and take twice as long to sort.
 */
#include "engine/topic/near/draws.h"

#include "base/mix.h"

int draws_init(unsigned n, unsigned k, uint64_t seed, struct draws *ret_draws)
{
    if (n < 1 || n > DRAWS_MOST || k < 1 || k > DRAWS_MOST_SIGNATURES)
        return -EINVAL;
    *ret_draws = (struct draws){.n = n, .k = k, .seed = mix64(seed)};
    for (unsigned i = 0; i < n; i++) {
        uint8_t pool[BAG_SIGNATURES];
        for (unsigned j = 0; j < BAG_SIGNATURES; j++)
            pool[j] = (uint8_t)j;
        for (unsigned j = 0; j < k; j++) {
            unsigned chosen =
                j + (unsigned)((mix64_next(&seed) >> 32) * (BAG_SIGNATURES - j) >> 32);
            ret_draws->signatures[i][j] = pool[chosen];
            pool[chosen] = pool[j];
        }
    }
    return 0;
}

unsigned draw_node_bits(uint32_t n_nodes)
{
    return n_nodes > 1 ? 32 - (unsigned)__builtin_clz(n_nodes - 1) : 1;
}

static uint64_t mix_one(uint64_t mixed, uint32_t signature)
{
    return mixed * 0xd6e8feb86659fd93 + signature;
}

uint64_t draw_of(const struct draws *draws, unsigned draw, const struct bag_sketch *sketch)
{
    uint64_t mixed = draws->seed + draw;
    for (unsigned j = 0; j < draws->k; j++)
        mixed = mix_one(mixed, bag_sketch_signature(sketch, draws->signatures[draw][j]));
    return mix64(mixed);
}

static void mix_in(const uint8_t *low, const uint16_t *high, uint32_t n,
                   struct draw_numbers *numbers)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t signature = low[i] | (uint32_t)high[i] << 8;
        numbers->mixed[i] = mix_one(numbers->mixed[i], signature);
        numbers->common[i] &= signature;
    }
}

int draw_block(const struct draws *draws, unsigned draw, struct signatures *signatures,
               uint32_t block, struct draw_numbers *ret_numbers)
{
    const uint32_t n = signatures_nodes(signatures, block);
    const uint64_t node_mask = ((uint64_t)1 << draw_node_bits(signatures->n_nodes)) - 1;
    for (uint32_t i = 0; i < n; i++) {
        ret_numbers->mixed[i] = draws->seed + draw;
        ret_numbers->common[i] = BAG_NO_SIGNATURE;
    }
    for (unsigned j = 0; j < draws->k; j++) {
        unsigned signature = draws->signatures[draw][j];
        const uint8_t *low;
        const uint16_t *high;
        int r = signatures_low(signatures, block, signature, ret_numbers->low, &low);
        if (r == 0)
            r = signatures_high(signatures, block, signature, ret_numbers->high, &high);
        if (r < 0)
            return r;
        mix_in(low, high, n, ret_numbers);
    }
    ret_numbers->n = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ret_numbers->common[i] != BAG_NO_SIGNATURE)
            ret_numbers->numbers[ret_numbers->n++] =
                (mix64(ret_numbers->mixed[i]) & ~node_mask) | (block * SIGNATURES_BLOCK + i);
    return 0;
}
