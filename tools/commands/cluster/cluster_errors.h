/* Errors of a batch to the one who asked for it. */
#ifndef KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_ERRORS_H
#define KINFS_TOOLS_COMMANDS_CLUSTER_CLUSTER_ERRORS_H

#include "engine/cluster/batch.h"

/* Refuse with what is wrong, and what to do. Returns error. */
int cluster_explain(const struct batch_options *options, int error, char **ret_error);
/* The same of a run that begins with what is kept. */
int cluster_explain_kept(const struct batch_options *options, int error, char **ret_error);

#endif
