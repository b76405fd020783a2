/* The store that the lines of a corpus are compared against, by the sketches that it has. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_AGAINST_STORE_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_AGAINST_STORE_H

#include "tools/commands/cluster/cluster_options.h"
#include "tools/documents/stored_documents.h"

/* Zero-initialised: there is none. */
struct against_store {
    bool is_there;
    struct policy policy;      /* of its sketches, with its key */
    struct document_list list; /* its documents, which are numbered before all lines */
    /* private */
    struct stored_documents stored;
};

/* Take the directory out of options->against, and open the store that it is. Returns 0, also where
 * there is none, or an error with a line in *ret_error. End with against_store_done(). */
int against_store_open(struct cluster_options *options, struct against_store *ret_against,
                       char **ret_error);

/* Add its documents to a batch of its policy, and close it: its list stays. Returns 0 or as
 * stored_documents_add(). */
int against_store_add(struct against_store *against, struct batch *batch);

/* Print how document `number` is called, a string of JSON: its path. */
void against_store_print_id(const struct against_store *against, uint32_t number);

void against_store_done(struct against_store *against);

#endif
