/* The draws by which nodes that may be near each other are found: l times k different ones of the
 * 80 signatures. Two nodes that agree in all k of a draw are a candidate pair (Haveliwala, Gionis
 * and Indyk 2000, section 4: k = 3, l = 125).
 *
 * As all draws are from one pool of 80, two nodes that agree in j of them are found with
 * probability 1 - (1 - C(j, k) / C(80, k))^l, and nodes of similarity s with the mean of that over
 * j, which is binomial: 0.559 at 0.2, not the 0.634 = 1 - (1 - 0.2^3)^125 of separate signatures.
 */
#ifndef KINFS_ENGINE_TOPIC_NEAR_DRAWS_H
#define KINFS_ENGINE_TOPIC_NEAR_DRAWS_H

#include "engine/topic/near/signatures.h"

enum { DRAWS_MOST = 1024, DRAWS_MOST_SIGNATURES = 8 };

struct draws {
    unsigned n, k;
    uint64_t seed;
    uint8_t signatures[DRAWS_MOST][DRAWS_MOST_SIGNATURES];
};

/* Returns 0, -EINVAL for less than one or more than the most. */
int draws_init(unsigned n, unsigned k, uint64_t seed, struct draws *ret_draws);

/* A place of nodes that agree in a draw: the upper bits are of the k signatures, the lower ones the
 * node. 39 upper bits with 20 million nodes make some hundreds of pairs a draw out of nothing,
 * which the filter drops. */
struct draw_numbers {
    uint32_t n;
    uint64_t numbers[SIGNATURES_BLOCK];
    /* of draw_block() alone */
    uint64_t mixed[SIGNATURES_BLOCK];
    uint32_t common[SIGNATURES_BLOCK];
    uint8_t low[SIGNATURES_BLOCK];
    uint16_t high[SIGNATURES_BLOCK];
};

unsigned draw_node_bits(uint32_t n_nodes);

/* What tells whether two nodes agree in the first draw, by their numbers there: 32 bits of a place.
 */
static inline uint32_t draw_first(uint64_t number)
{
    return (uint32_t)(number >> 32);
}

/* The number of one bag, of which the lower bits are not those of a node. */
uint64_t draw_of(const struct draws *draws, unsigned draw, const struct bag_sketch *sketch);

/* The numbers of the nodes of a block by a draw; empty bags have none. Returns 0, an error of
 * scratch_file_read(). */
int draw_block(const struct draws *draws, unsigned draw, struct signatures *signatures,
               uint32_t block, struct draw_numbers *ret_numbers);

#endif
