/* All documents of an index, or those below some of its directories, in one batch that finds which
 * of them resemble each other: for commands about a whole tree. */
#ifndef KINFS_TOOLS_COMMANDS_PAIRS_TREE_BATCH_H
#define KINFS_TOOLS_COMMANDS_PAIRS_TREE_BATCH_H

#include "engine/cluster/batch.h"
#include "tools/documents/paths.h"
#include "tools/questions/work.h"

struct tree_batch {
    /* The caller's: */
    row_fn row;
    void *user;
    char *trees[2]; /* what is asked about, "" is all; with the second, pairs of one in each */
    double least;   /* resemblance */
    uint32_t most_compared; /* of batch_options */
    uint32_t n_heads;       /* the same */
    /* Called with each document as it is added: its number, counted from 0. Returns 0 or an error.
     * NULL: not wanted */
    int (*add)(void *user, uint32_t number, const struct document_sketch *sketch);
    void *add_user;

    int told; /* what the row function returned last */
    struct paths paths;
    struct path *documents;  /* by number */
    uint8_t *sides;          /* of a document 1 or 2 */
    uint32_t n, most;        /* documents; at most so many, known before the first is added */
    const uint32_t *classes; /* by document the first one that is equal */
    struct batch *batch;
    /* private */
    bool stop; /* nobody listens any more; by atomic operations */
    struct batch_writer *writer;
};

void tree_batch_done(struct tree_batch *tree);

/* Hand out a row, if the one before was taken. Returns what the row function said. */
int tree_batch_tell(struct tree_batch *tree, struct json_object *row);

/* A row {"progress": {"phase", "done", "of"}}. */
int tree_batch_tell_progress(struct tree_batch *tree, const char *phase, uint32_t done,
                             uint32_t of);

/* Add all documents of the trees and run the batch; then there are classes, and
 * batch_each_pair(). It takes 17 bytes a document and 64 MiB, beside what is above, and where that
 * is not enough files without names in the store's directory. Returns 0, what the row function
 * returned, or an error for tree_batch_refuse(). */
int tree_batch_run(const struct work_context *context, struct tree_batch *tree);

/* An error with its line; 0 and what the row function returned pass. */
int tree_batch_refuse(const struct work_context *context, const struct tree_batch *tree, int code,
                      char **ret_error);

#endif
