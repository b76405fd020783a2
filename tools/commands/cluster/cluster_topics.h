/* kinfs cluster --mode=haveliwala2000: clusters of documents about the same, and of what they link
 * to. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_TOPICS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_TOPICS_H

#include "tools/commands/cluster/cluster_options.h"

/* Print the clusters. Returns 0, -ENODATA when there are none, or an error with a line in
 * *ret_error. */
int cluster_topics(struct cluster_options *options, char **ret_error);

#endif
