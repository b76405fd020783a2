/* The numbers of documents in the store, and of files that could not be read: kept in memory,
 * stored at a clean end. The stored row goes before the first row of a file changes, in a write of
 * its own (a batch is not atomic across tables), so that there never is a count of other rows than
 * those which are there.
 *
 * One thread, which changes the store, calls all functions; the two numbers are anybody's to read.
 */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_DOCUMENT_COUNTS_H
#define KINFS_ENGINE_INDEX_CATALOGUE_DOCUMENT_COUNTS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/index/catalogue/catalogue.h"
#include "store/kv.h"

struct document_counts {
    struct kv *kv; /* borrowed */
    atomic_uint_fast64_t n_documents, n_skipped;
    bool stored; /* the row is there, and no file's row has changed since */
    bool lost;   /* a file's row failed to be written, perhaps: to be counted again */
};

/* The numbers of a clean end, if there are: `stored`. Before anything else is written. Returns 0,
 * -EUCLEAN or a store error. */
int document_counts_read(struct document_counts *counts);
/* Reads every row of a file. Returns 0 or a store error. */
int document_counts_recount(struct document_counts *counts);
/* At a clean end: the next start need not count. Returns 0, -ENOMEM or a store error. */
int document_counts_store(struct document_counts *counts);

struct document_change {
    int64_t n_documents, n_skipped;
};
/* Add the effect of a change of a file's row. before, after: NULL, none. */
void document_change_add(struct document_change *change, const struct file_row *before,
                         const struct file_row *after);
/* Apply a batch that changes rows of files. Returns 0, -ENOMEM or a store error. */
int document_counts_apply(struct document_counts *counts, struct kv_batch *batch,
                          const struct document_change *change);

#endif
