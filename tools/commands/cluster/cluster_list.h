/* The documents that are clustered: those of paths, or of a list on standard input; and by what
 * they are read. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_LIST_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_LIST_H

#include "tools/commands/cluster/cluster_options.h"
#include "engine/index/extract/extractor.h"
#include "tools/documents/document_list.h"
#include "tools/options/configuration.h"

/* Returns 0 or an error, with a line in *ret_error. */
int cluster_list_documents(const struct cluster_options *options,
                           const struct document_rules *rules, struct document_list *list,
                           char **ret_error);

/* The error of a list for which there is too little memory. Returns -E2BIG. */
int cluster_list_explain(const struct document_list *list, char **ret_error);

/* Zero-initialised. */
struct cluster_reading {
    struct configuration configuration;
    struct document_rules documents; /* of that and the options */
    struct extractors *extractors;
};

/* Returns 0 or an error, with a line in *ret_error; end with cluster_reading_done(). */
int cluster_reading_begin(const struct cluster_options *options,
                          struct cluster_reading *ret_reading, char **ret_error);
void cluster_reading_done(struct cluster_reading *reading);

#endif
