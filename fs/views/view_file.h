/* Files without a name, beside the store, have what the views keep for a user: documents of
 * questions and their answers, lists of what unique/ leaves out. It counts among the user's
 * descriptors, and for the user's quota; where there can be no such file it is in memory, of which
 * the daemon has less.
 *
 * Threads: any, one at a time for a file. */
#ifndef KINFS_FS_VIEWS_VIEW_FILE_H
#define KINFS_FS_VIEWS_VIEW_FILE_H

#include "fs/state.h"
#include "fs/inodes/user_room.h"
#include "fs/views/view_room.h"

/* The rooms of one kind of such files. */
struct view_file_rooms {
    struct view_room on_disk, in_memory;
};
/* Returns 0 or -ENOMEM. */
int view_file_rooms_init(struct view_file_rooms *rooms, const struct view_room_limits *on_disk);
void view_file_rooms_done(struct view_file_rooms *rooms); /* all zero allowed */

struct view_file {
    int fd;
    bool is_in_memory;
    uid_t uid;
    struct view_room_stay stay;    /* of no bytes until its owner holds some */
    struct user_room *descriptors; /* that fd is counted in, or NULL */
};

/* Returns 0, -EMFILE or -ENFILE (view_room.h, or too many descriptors), or an errno of open(2);
 * then too it is to be closed. */
int view_file_open(struct fs *fs, struct view_file_rooms *rooms, uid_t uid, gid_t gid,
                   struct view_file *ret_file);
/* As view_room_hold(); -ENOSPC also where the disk, which is that of the store, would have less
 * left than all such files together and the user's once more: else who fills it, which no quota
 * need keep anybody from, would have the index of all take no more changes. Or an errno of
 * fstatvfs(2). */
int view_file_hold(struct view_file *file, uint64_t n_bytes);
void view_file_close(struct view_file *file);

#endif
