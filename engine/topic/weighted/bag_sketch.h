/* The sketch of a bag: m = 80 signatures of 3 bytes, 240 bytes (Haveliwala, Gionis and Indyk 2000,
 * section 4). Two bags agree in a signature with the probability that is their similarity, the sum
 * of the lesser weights by the sum of the greater, and else with 2^-24.
 *
 * flat.h, consistent.h and gumbel.h make such sketches; only those of one of them and of one key
 * compare. All here is arithmetic: any thread, no memory.
 */
#ifndef KINFS_ENGINE_TOPIC_WEIGHTED_BAG_SKETCH_H
#define KINFS_ENGINE_TOPIC_WEIGHTED_BAG_SKETCH_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BAG_SIGNATURES = 80,
    BAG_SKETCH_BYTES = 240,
    BAG_NO_SIGNATURE = 0xffffff, /* each of an empty bag */
};

/* The lowest byte of each signature stands apart, as it alone is compared by most. */
struct bag_sketch {
    uint8_t low[BAG_SIGNATURES];
    uint16_t high[BAG_SIGNATURES];
};

_Static_assert(sizeof(struct bag_sketch) == BAG_SKETCH_BYTES, "");

static inline uint32_t bag_sketch_signature(const struct bag_sketch *sketch, unsigned i)
{
    return sketch->low[i] | (uint32_t)sketch->high[i] << 8;
}

/* Keeps the lowest 24 bits. The highest ones of a least value are mostly zeroes. */
static inline void bag_sketch_set(struct bag_sketch *sketch, unsigned i, uint64_t value)
{
    sketch->low[i] = (uint8_t)value;
    sketch->high[i] = (uint16_t)(value >> 8);
}

void bag_sketch_empty(struct bag_sketch *ret_sketch);
bool bag_sketch_is_empty(const struct bag_sketch *sketch);

/* How many signatures agree, of 3 bytes. An empty bag agrees with nothing: 0. */
unsigned bag_sketch_agreeing(const struct bag_sketch *a, const struct bag_sketch *b);

/* How many of n lowest bytes agree, n at most BAG_SIGNATURES. */
unsigned signatures_agreeing(const uint8_t *a, const uint8_t *b, unsigned n);

/* The similarity, without bias, of two bags of which so many of n lowest bytes agree: (agreeing / n
 * - 1/256) / (1 - 1/256), which may be below 0. Its standard error is at most 0.5 / sqrt(n) / (1 -
 * 1/256). */
double signatures_similarity(unsigned agreeing, unsigned n);

/* How many of n lowest bytes agree, on average and to the nearest whole number, where the
 * similarity is `similarity`: 16 of 80 at 0.2. */
unsigned signatures_expected(double similarity, unsigned n);

#endif
