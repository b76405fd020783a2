/* The list of what unique/ leaves out, for root and the owner of the mount, to each their own: a
 * text that is made when its name is looked up, so that its size is known before it is opened, and
 * that stays what it is for as long as somebody has the node. Who asks later is given another node.
 *
 * A line for each path that is left out, in the order of the index, of fields with a TAB between:
 * the path, the path of what stands in for it, both escaped as `ls -b` does, the resemblance, its
 * size in bytes, "equal", where the two are byte for byte, or "similar", and what it can be made
 * again by (docs/design/unique.md).
 *
 * The text is in a file (view_file.h), since others decide how long it is: a link takes a line of
 * up to 30 KB. So memory has no part in that, nor has what else is open of the views.
 *
 * Threads: any, but where a task is said.
 */
#ifndef KINFS_FS_VIEWS_VIEW_SKIPPED_H
#define KINFS_FS_VIEWS_VIEW_SKIPPED_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "fs/state.h"

struct view_node;
struct view_skipped;
struct view_task;

/* Those that there are. One is given to who asked for it again while the index stays as it is, for
 * a moment, until it is opened: a program looks at a file before that. */
struct view_skipped_memory {
    pthread_mutex_t lock; /* of all below */
    uint64_t last_number;
    struct view_skipped *first;
};
void view_skipped_memory_init(struct view_skipped_memory *memory);
void view_skipped_memory_done(struct view_skipped_memory *memory);

/* The list for who asks, as it was kept or made anew, which takes long. 0, -EACCES for who is
 * neither root nor the owner of the mount, or another error; gives a reference. */
int view_skipped_find(const struct view_task *task, struct view_skipped **ret_skipped);
uint64_t view_skipped_number(const struct view_skipped *skipped); /* never used again */

void view_skipped_ref(struct view_skipped *skipped);
void view_skipped_unref(struct view_skipped *skipped); /* NULL allowed */
DEFINE_CLEANUP(struct view_skipped *, view_skipped_unref);
/* Sets owner, size and times. */
void view_skipped_stat(const struct view_skipped *skipped, struct stat *st);
/* Its text is there from one to the other, and until it is opened, unless that takes long; after
 * that there is none. Returns 0 or -ESTALE. */
int view_skipped_open(struct view_skipped *skipped);
void view_skipped_close(struct view_skipped *skipped);
/* Replies, of one that is open. */
void view_skipped_read(fuse_req_t req, const struct view_skipped *skipped, size_t size,
                       off_t offset);

#endif
