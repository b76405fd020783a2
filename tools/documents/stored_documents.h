/* The documents of a store, by the sketches that it has: for a batch, without a daemon. */
#ifndef KINFS_TOOLS_DOCUMENTS_STORED_DOCUMENTS_H
#define KINFS_TOOLS_DOCUMENTS_STORED_DOCUMENTS_H

#include "engine/cluster/batch.h"
#include "engine/index/index.h"
#include "tools/documents/document_list.h"
#include "tools/questions/locate.h"

struct stored_documents {
    struct location at;
    struct backing *backing;
    struct index *index;
    int holder;
    struct document_list *list; /* borrowed */
    uint32_t *numbers;          /* in the list, sorted by path, by the order of reading */
    uint32_t next, n;
    struct batch_writer *writer; /* as long as all are added */
};

/* Open the store of the tree that path (NULL: the working directory) is in, or that store (NULL:
 * where the tree has it), and fill the list with its documents. Returns 0, -EBUSY (somebody has it:
 * who, and what to do), or what locate() or index_open() says, with a line in *ret_error; -E2BIG,
 * without one: the list has no room. End with stored_documents_done() in any case. */
int stored_documents_open(const char *path, const char *store, struct document_list *list,
                          struct stored_documents *ret_stored, char **ret_error);
const struct policy *stored_documents_policy(const struct stored_documents *stored);

/* Add all of them to a batch of that policy and so many documents. Returns 0, an error of
 * batch_writer_add() or of reading records. */
int stored_documents_add(struct stored_documents *stored, struct batch *batch);
void stored_documents_done(struct stored_documents *stored);

#endif
