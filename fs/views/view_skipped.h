/* The list of what unique/ leaves out, as one asker is shown it: a text that is made when its name
 * is looked up, so that its size is known before it is opened, and that stays what it is for as
 * long as somebody has the node. Who asks later is given another node.
 *
 * A line for each path that is left out, in order, of five fields with a TAB between: the path, the
 * path of what stands in for it, both escaped as `ls -b` does, the resemblance, its size in bytes,
 * and "equal", where the two are byte for byte, or "similar".
 *
 * Threads: any, but where a task is said.
 */
#ifndef KINFS_FS_VIEWS_VIEW_SKIPPED_H
#define KINFS_FS_VIEWS_VIEW_SKIPPED_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "fs/state.h"

struct view_node;
struct view_skipped;

/* The last one that was made for who may see all, who is given it again while the index stays as it
 * is, for a moment: a program looks at a file before it opens it. */
struct view_skipped_memory {
    pthread_mutex_t lock;
    uint64_t last_number;
    struct view_skipped *last;
};
void view_skipped_memory_init(struct view_skipped_memory *memory);
void view_skipped_memory_done(struct view_skipped_memory *memory);

/* Replies an entry for the list, below a directory of unique/; for those that serve. */
void view_skipped_lookup(struct fs *fs, fuse_req_t req, struct view_node *parent);

void view_skipped_ref(struct view_skipped *skipped);
void view_skipped_unref(struct view_skipped *skipped); /* NULL allowed */
/* Sets owner, size and times. */
void view_skipped_stat(const struct view_skipped *skipped, struct stat *st);
const char *view_skipped_text(const struct view_skipped *skipped,
                              size_t *ret_n_bytes); /* borrowed */

#endif
