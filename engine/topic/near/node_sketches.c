#include "engine/topic/near/node_sketches.h"

#include <errno.h>
#include <stdlib.h>

#include <xxhash.h>

/* Room is reserved as nodes are added, so that a node is at its number. */
static int write_waiting(struct node_sketches *sketches)
{
    const size_t size = sketches->n_waiting * sizeof(struct bag_sketch);
    const uint64_t at = size ? scratch_file_reserve(&sketches->file, size) : 0;
    sketches->n_waiting = 0;
    return size ? scratch_file_write(&sketches->file, at, sketches->waiting, size) : 0;
}

static int begin(struct node_sketches *sketches, uint32_t n_documents)
{
    struct bag_sketch empty;
    int r = 0;
    bag_sketch_empty(&empty);
    for (uint32_t i = 0; r == 0 && i < n_documents; i++)
        r = node_sketches_add(sketches, &empty);
    if (r == 0)
        r = write_waiting(sketches);
    sketches->n_documents = n_documents;
    return r;
}

int node_sketches_init(uint32_t n_documents, const char *scratch,
                       struct node_sketches *ret_sketches)
{
    *ret_sketches = (struct node_sketches){0};
    int r = scratch_file_open(scratch, &ret_sketches->file);
    return r < 0 ? r : begin(ret_sketches, n_documents);
}

int node_sketches_init_kept(uint32_t n_documents, struct scratch_file *file,
                            struct node_sketches *ret_sketches)
{
    *ret_sketches = (struct node_sketches){.file = *file, .is_kept = true};
    *file = (struct scratch_file){0};
    return begin(ret_sketches, n_documents);
}

void node_sketches_done(struct node_sketches *sketches)
{
    scratch_file_done(&sketches->file);
}

int node_sketches_set(struct node_sketches *sketches, uint32_t document,
                      const struct bag_sketch *sketch)
{
    return scratch_file_write(&sketches->file, document * (uint64_t)sizeof(*sketch), sketch,
                              sizeof(*sketch));
}

int node_sketches_add(struct node_sketches *sketches, const struct bag_sketch *sketch)
{
    if (sketches->n_nodes == SIGNATURES_MOST)
        return -EOVERFLOW;
    sketches->n_nodes++;
    sketches->waiting[sketches->n_waiting++] = *sketch;
    return sketches->n_waiting == NODE_SKETCHES_AT_ONCE ? write_waiting(sketches) : 0;
}

static int turn_block(struct node_sketches *sketches, struct signatures *signatures,
                      uint32_t number, struct signatures_block *block)
{
    const uint32_t n = signatures_nodes(signatures, number);
    int r = scratch_file_read(&sketches->file, (uint64_t)number * sizeof(sketches->waiting),
                              sketches->waiting, n * sizeof(struct bag_sketch));
    if (r < 0)
        return r;
    sketches->checksum =
        XXH3_64bits_withSeed(sketches->waiting, n * sizeof(struct bag_sketch), sketches->checksum);
    for (uint32_t i = 0; i < n; i++)
        signatures_set(block, i, &sketches->waiting[i]);
    return signatures_put(signatures, number, block);
}

int node_sketches_turn(struct node_sketches *sketches, const char *scratch, uint64_t memory_bytes,
                       struct signatures *ret_signatures)
{
    _cleanup_free_ struct signatures_block *block = calloc(1, sizeof(*block));
    int r = block ? write_waiting(sketches) : -ENOMEM;
    if (r == 0)
        r = signatures_init(sketches->n_nodes, scratch, memory_bytes, ret_signatures);
    for (uint32_t i = 0; r == 0 && i < ret_signatures->n_blocks; i++)
        r = turn_block(sketches, ret_signatures, i, block);
    if (r == 0 && !sketches->is_kept)
        scratch_file_give_back(&sketches->file);
    return r;
}
