/* The file of counted pairs: blocks of 65,535 pairs, each with a checksum, which are written and
 * read by several threads in any order.
 *
 * Example: three pairs are one block, with 3 in front and zeroes behind them. Cost: 16 bytes a
 * pair; joining all pairs at another threshold takes one read of the file. Left out: sorting by
 * count, with which a higher threshold would read less; it would take another pass over all pairs.
 */
#include "engine/cluster/pairs/pair_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/cleanup.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"

enum { BLOCK_PAIRS = 65535 };

struct pair_block {
    uint64_t n;
    struct counted_pair pairs[BLOCK_PAIRS];
    uint64_t checksum;
};

_Static_assert(sizeof(struct pair_block) == PAIR_WRITER_BYTES, "");

static uint64_t checksum(const struct pair_block *block)
{
    return XXH3_64bits(block, offsetof(struct pair_block, checksum));
}

int pair_writer_flush(struct pair_writer *writer)
{
    struct pair_block *block = writer->block;
    if (!block || block->n == 0)
        return 0;
    memset(block->pairs + block->n, 0, (BLOCK_PAIRS - block->n) * sizeof(*block->pairs));
    block->checksum = checksum(block);
    uint64_t at = scratch_file_reserve(&writer->pairs->file, sizeof(*block));
    int r = scratch_file_write(&writer->pairs->file, at, block, sizeof(*block));
    block->n = 0;
    return r;
}

int pair_writer_add(struct pair_writer *writer, const struct counted_pair *pair)
{
    if (!writer->block) {
        writer->block = large_array_new(sizeof(*writer->block));
        if (!writer->block)
            return -ENOMEM;
    }
    writer->block->pairs[writer->block->n++] = *pair;
    return writer->block->n == BLOCK_PAIRS ? pair_writer_flush(writer) : 0;
}

void pair_writer_done(struct pair_writer *writer)
{
    large_array_free(writer->block, sizeof(*writer->block));
    *writer = (struct pair_writer){0};
}

struct reading {
    struct pair_file *pairs;
    pair_take_fn take;
    void *user;
    uint32_t next, n_blocks;
};

static int read_blocks(void *user, unsigned thread, const bool *stop)
{
    struct reading *reading = user;
    _cleanup_free_ struct pair_block *block = malloc(sizeof(*block));
    if (!block)
        return -ENOMEM;
    (void)thread;
    int r = 0;
    for (uint32_t i; r == 0 && !parallel_stopped(stop) &&
                     (i = parallel_next(&reading->next)) < reading->n_blocks;) {
        r = scratch_file_read(&reading->pairs->file, i * (uint64_t)sizeof(*block), block,
                              sizeof(*block));
        if (r == 0 && (block->n > BLOCK_PAIRS || block->checksum != checksum(block)))
            r = -EUCLEAN;
        for (size_t j = 0; r == 0 && j < block->n; j++)
            r = reading->take(reading->user, &block->pairs[j]);
    }
    return r;
}

int pair_file_each(struct pair_file *pairs, unsigned n_threads, pair_take_fn take, void *user,
                   double *cpu_s)
{
    struct reading reading = {.pairs = pairs,
                              .take = take,
                              .user = user,
                              .n_blocks =
                                  (uint32_t)(pairs->file.size_bytes / sizeof(struct pair_block))};
    return parallel_run(n_threads, read_blocks, &reading, cpu_s);
}
