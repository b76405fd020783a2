/* The sketches of very many bags by columns, so that what looks at three signatures of each reads
 * no more than these: blocks of 4,032 bags, in each of which the lowest bytes of the first
 * signature stand together, then those of the second, and so on, and behind them the upper two
 * bytes in the same way. In memory where they fit into what is given, else in a scratch file.
 *
 * Bags have the numbers 0, 1, .., and are called nodes from here on.
 */
#ifndef KINFS_ENGINE_TOPIC_NEAR_SIGNATURES_H
#define KINFS_ENGINE_TOPIC_NEAR_SIGNATURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/cluster/large/scratch_file.h"
#include "engine/topic/weighted/bag_sketch.h"

enum {
    SIGNATURES_BLOCK = 4032, /* nodes; not 4,096, as columns would have one place in a cache */
    SIGNATURES_MOST = (1 << 28) - 1, /* nodes */
};

struct signatures_block {
    uint8_t low[BAG_SIGNATURES][SIGNATURES_BLOCK];
    uint16_t high[BAG_SIGNATURES][SIGNATURES_BLOCK];
};

struct signatures {
    uint32_t n_nodes, n_blocks;
    struct signatures_block *blocks; /* NULL: in the file */
    struct scratch_file file;
};

/* scratch       a directory, where memory does not suffice
 * memory_bytes  240 a node, and at most a block more, or all are in the file
 * Returns 0, -EOVERFLOW for more than SIGNATURES_MOST nodes, -ENOMEM, an error of
 * scratch_file_open(). */
int signatures_init(uint32_t n_nodes, const char *scratch, uint64_t memory_bytes,
                    struct signatures *ret_signatures);
void signatures_done(struct signatures *signatures); /* of zeroes, too */

static inline void signatures_set(struct signatures_block *block, uint32_t i,
                                  const struct bag_sketch *sketch)
{
    for (unsigned j = 0; j < BAG_SIGNATURES; j++) {
        block->low[j][i] = sketch->low[j];
        block->high[j][i] = sketch->high[j];
    }
}

/* Nodes of a block. */
static inline uint32_t signatures_nodes(const struct signatures *signatures, uint32_t block)
{
    uint32_t left = signatures->n_nodes - block * SIGNATURES_BLOCK;
    return left < SIGNATURES_BLOCK ? left : SIGNATURES_BLOCK;
}

/* Each block is put once, before any is read, by any threads. Returns 0, an error of
 * scratch_file_write(). */
int signatures_put(struct signatures *signatures, uint32_t number,
                   const struct signatures_block *block);

/* The columns of a signature in a block: borrowed, or read into the buffer. Any threads. Return 0,
 * an error of scratch_file_read(). */
int signatures_low(struct signatures *signatures, uint32_t block, unsigned signature,
                   uint8_t buffer[SIGNATURES_BLOCK], const uint8_t **ret_low);
int signatures_high(struct signatures *signatures, uint32_t block, unsigned signature,
                    uint16_t buffer[SIGNATURES_BLOCK], const uint16_t **ret_high);

#endif
