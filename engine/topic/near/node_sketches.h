/* Sketches of bags that come in another order than that of their nodes: documents, which are the
 * first nodes, in any order, and all others behind them in theirs. How many there are is known at
 * the end. In a file, 240 bytes a node. */
#ifndef KINFS_ENGINE_TOPIC_NEAR_NODE_SKETCHES_H
#define KINFS_ENGINE_TOPIC_NEAR_NODE_SKETCHES_H

#include <stdbool.h>

#include "engine/topic/near/signatures.h"

enum { NODE_SKETCHES_AT_ONCE = SIGNATURES_BLOCK };

struct node_sketches {
    struct scratch_file file;
    uint32_t n_documents, n_nodes;
    uint32_t n_waiting; /* of the last nodes, not written yet */
    bool is_kept;       /* the file is, and has a name */
    uint64_t checksum;  /* of all, once they are turned */
    struct bag_sketch waiting[NODE_SKETCHES_AT_ONCE];
};

/* All documents have empty bags. Returns 0, an error of scratch_file_open() or
 * scratch_file_write(). */
int node_sketches_init(uint32_t n_documents, const char *scratch,
                       struct node_sketches *ret_sketches);
/* The same in a file that is empty and is kept, which is the sketches' from now on. */
int node_sketches_init_kept(uint32_t n_documents, struct scratch_file *file,
                            struct node_sketches *ret_sketches);
void node_sketches_done(struct node_sketches *sketches); /* of zeroes, too */

int node_sketches_set(struct node_sketches *sketches, uint32_t document,
                      const struct bag_sketch *sketch);
/* Of the next node behind the documents. Also -EOVERFLOW past SIGNATURES_MOST. */
int node_sketches_add(struct node_sketches *sketches, const struct bag_sketch *sketch);

/* All of them by columns. memory_bytes: as of signatures_init(). Returns 0, -ENOMEM or an error;
 * ret_signatures gives. */
int node_sketches_turn(struct node_sketches *sketches, const char *scratch, uint64_t memory_bytes,
                       struct signatures *ret_signatures);

#endif
