/* Sketches of bags are compared signature by signature; lowest bytes eight at a time, as numbers of
 * 64 bits.
 *
 * Example: the bytes 1 2 3 and 1 9 3 differ by 0 b 0 (exclusive or). To the lowest seven bits of
 * each 127 is added, which carries into the highest bit unless all were 0: two bytes without it
 * are two that agree.
 *
 * Cost: 10 numbers for 80 bytes, some 8 ns. Left out: vector instructions, since what costs is the
 * way to the bytes: bags that are compared lie anywhere in memory.
 */
#include "engine/topic/weighted/bag_sketch.h"

#include <math.h>
#include <string.h>

void bag_sketch_empty(struct bag_sketch *ret_sketch)
{
    memset(ret_sketch, 0xff, sizeof(*ret_sketch));
}

bool bag_sketch_is_empty(const struct bag_sketch *sketch)
{
    unsigned i = 0;
    while (i < BAG_SIGNATURES && bag_sketch_signature(sketch, i) == BAG_NO_SIGNATURE)
        i++;
    return i == BAG_SIGNATURES;
}

unsigned bag_sketch_agreeing(const struct bag_sketch *a, const struct bag_sketch *b)
{
    unsigned n = 0;
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        n += a->low[i] == b->low[i] && a->high[i] == b->high[i];
    return bag_sketch_is_empty(a) ? 0 : n;
}

unsigned signatures_agreeing(const uint8_t *a, const uint8_t *b, unsigned n)
{
    const uint64_t low_bits = 0x7f7f7f7f7f7f7f7f, ones = 0x0101010101010101;
    uint64_t sums = 0; /* in each byte, at most 10 */
    unsigned i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t x, y;
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        x ^= y;
        sums += ~(((x & low_bits) + low_bits) | x | low_bits) >> 7;
    }
    unsigned agreeing = (unsigned)(sums * ones >> 56);
    for (; i < n; i++)
        agreeing += a[i] == b[i];
    return agreeing;
}

double signatures_similarity(unsigned agreeing, unsigned n)
{
    return ((double)agreeing / n - 1.0 / 256) / (1 - 1.0 / 256);
}

unsigned signatures_expected(double similarity, unsigned n)
{
    return (unsigned)lround(n * (similarity + (1 - similarity) / 256));
}
