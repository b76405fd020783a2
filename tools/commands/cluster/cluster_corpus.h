/* kinfs cluster --jsonl: the clusters of a corpus of lines, and the corpus without what resembles
 * another. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_CORPUS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_CORPUS_H

#include "tools/commands/cluster/cluster_options.h"

/* Print an object for each line, and write the lines that are kept or dropped. Returns 0, -ENODATA
 * (no two documents resemble each other), or an error, with a line in *ret_error where there is
 * more to say than its name. */
int cluster_corpus(struct cluster_options *options, char **ret_error);

#endif
