/* An open directory of the views, and a part of its listing in the making: shared by
 * view_listing.c, which opens and reads, and view_listing_entries.c, which knows what is in each
 * kind.
 *
 * Threads: the one of the views that runs the reply's task.
 */
#ifndef KINFS_FS_VIEWS_VIEW_LISTING_H
#define KINFS_FS_VIEWS_VIEW_LISTING_H

#include <dirent.h>

#include "fs/views/view.h"

enum { VIEW_DIRENT_BYTES = 32768 }; /* of the buffer for entries of the tree */

static inline bool view_follows_the_tree(enum view_kind kind)
{
    return kind == VIEW_DIRECTORY || kind == VIEW_UNIQUE;
}

/* An open directory. The kernel lets one request at a time read it (f_pos lock). */
struct view_handle {
    struct caller opener; /* who is shown what there is, whoever reads */
    struct view_room_stay stay;
    size_t n_bytes;                           /* of memory, but for what is listed */
    struct view_links *links;                 /* of VIEW_DOCUMENT, VIEW_CLUSTER, VIEW_TOPIC */
    struct index_readable_clusters *clusters; /* of VIEW_CLUSTERS, where not all may be read */
    struct index_topic_size *parts;           /* of VIEW_TOPIC */
    int64_t n_parts;
    int fd;                     /* of what follows the tree, or -1 */
    struct index_equal equal;   /* of its documents */
    struct inode_table *inodes; /* whose room has it, as stay.uid's; or NULL */
    off_t at;                   /* offset of the entry at `used` */
    off_t from;          /* where the buffer is to be filled from; negative: where it ended */
    off_t told;          /* what the kernel was told is next: all from there to `at` is not
                            shown, and not asked about again */
    size_t used, filled; /* bytes of the buffer */
    _Alignas(struct dirent64) char buffer[];
};

struct view_reply {
    struct view_task *task;
    char *buffer;
    size_t size, used;
};

/* Add what comes next, from the task's offset on, as much as there is room and time for. Returns 0,
 * also at the end, -ENOTDIR of what is no directory, or an error. */
int view_listing_fill(struct view_reply *reply, struct view_handle *handle);

/* Close the directory of the tree that is followed, where there is one. Nobody else may hold a
 * directory that was removed, and its owner make the close take its time. */
void view_listing_close_tree(struct view_handle *handle);

#endif
