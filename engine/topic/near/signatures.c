/* Blocks are one after the other, in an array or in a file.
 *
 * Example: 20 million nodes are 4,961 blocks of 967,680 bytes, 4.8 GB. A draw of three signatures
 * reads 12 KB at six places in each, 180 MB, where rows of 240 bytes would make it all 4.8 GB.
 *
 * Cost: putting a node in its place is 160 writes to as many lines of the cache, which a block fits
 * in. Left out: packing the two parts of a signature, of which one alone is asked for by the
 * filter.
 */
#include "engine/topic/near/signatures.h"

#include "engine/cluster/large/large_array.h"

static uint64_t all_bytes(const struct signatures *signatures)
{
    return signatures->n_blocks * (uint64_t)sizeof(struct signatures_block);
}

int signatures_init(uint32_t n_nodes, const char *scratch, uint64_t memory_bytes,
                    struct signatures *ret_signatures)
{
    struct signatures signatures = {
        .n_nodes = n_nodes,
        .n_blocks = n_nodes / SIGNATURES_BLOCK + (n_nodes % SIGNATURES_BLOCK != 0),
    };
    if (n_nodes > SIGNATURES_MOST)
        return -EOVERFLOW;
    if (all_bytes(&signatures) > memory_bytes) {
        int r = scratch_file_open(scratch, &signatures.file);
        if (r < 0)
            return r;
        (void)scratch_file_reserve(&signatures.file, all_bytes(&signatures));
    } else {
        signatures.blocks = large_array_new(all_bytes(&signatures));
        if (!signatures.blocks)
            return -ENOMEM;
    }
    *ret_signatures = signatures;
    return 0;
}

void signatures_done(struct signatures *signatures)
{
    large_array_free(signatures->blocks, all_bytes(signatures));
    scratch_file_done(&signatures->file);
    *signatures = (struct signatures){0};
}

static uint64_t place_of(uint32_t block, size_t at)
{
    return block * (uint64_t)sizeof(struct signatures_block) + at;
}

int signatures_put(struct signatures *signatures, uint32_t number,
                   const struct signatures_block *block)
{
    if (!signatures->blocks)
        return scratch_file_write(&signatures->file, place_of(number, 0), block, sizeof(*block));
    signatures->blocks[number] = *block;
    return 0;
}

int signatures_low(struct signatures *signatures, uint32_t block, unsigned signature,
                   uint8_t buffer[SIGNATURES_BLOCK], const uint8_t **ret_low)
{
    if (signatures->blocks) {
        *ret_low = signatures->blocks[block].low[signature];
        return 0;
    }
    size_t at = offsetof(struct signatures_block, low) + signature * (size_t)SIGNATURES_BLOCK;
    *ret_low = buffer;
    return scratch_file_read(&signatures->file, place_of(block, at), buffer, SIGNATURES_BLOCK);
}

int signatures_high(struct signatures *signatures, uint32_t block, unsigned signature,
                    uint16_t buffer[SIGNATURES_BLOCK], const uint16_t **ret_high)
{
    if (signatures->blocks) {
        *ret_high = signatures->blocks[block].high[signature];
        return 0;
    }
    size_t size = SIGNATURES_BLOCK * sizeof(*buffer),
           at = offsetof(struct signatures_block, high) + signature * size;
    *ret_high = buffer;
    return scratch_file_read(&signatures->file, place_of(block, at), buffer, size);
}
