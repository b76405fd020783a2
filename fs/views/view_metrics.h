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

struct view_node;

#define VIEW_METRICS_NAME "metrics"

/* The text of a state. Gives; NULL: no memory. */
char *metrics_text(const struct index_status *status,
                   const struct index_clustering_status *clusterings, size_t n_clusterings);

/* Replies an opening, for those that serve: EACCES for all but root and the owner, EMFILE and
 * ENFILE as of view_room.h. */
void metrics_open(struct fs *fs, fuse_req_t req, struct view_node *node,
                  const struct fuse_file_info *fi);
void metrics_read(fuse_req_t req, const struct fuse_file_info *fi, size_t size, off_t offset);
void metrics_release(const struct fuse_file_info *fi);

#endif
