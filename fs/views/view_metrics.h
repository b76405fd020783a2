/* The numbers of the index for a monitoring system, as .kinfs/metrics: the text exposition format
 * of Prometheus, version 0.0.4. They are of all documents, so root and the owner of the mount alone
 * read them. A text is made when the file is opened, and is its opening's; its size is not known
 * before, and told as 0.
 *
 * Threads: any, but where a task is said.
 */
#ifndef KINFS_FS_VIEWS_VIEW_METRICS_H
#define KINFS_FS_VIEWS_VIEW_METRICS_H

#include "engine/index/index.h"
#include "fs/state.h"

struct view_task;

#define VIEW_METRICS_NAME "metrics"

/* The text of a state. Gives; NULL: no memory. */
char *metrics_text(const struct index_status *status,
                   const struct index_clustering_status *clusterings, size_t n_clusterings);

/* The text of .kinfs/metrics (view_text.h). Returns 0 or -ENOMEM; gives. */
int view_metrics_make(const struct view_task *task, char **ret_text);

#endif
