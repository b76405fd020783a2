/* Changes of the backing tree made beside the mount: seen, told to the kernel and to the index.
 *
 * With fanotify every change is seen, whoever makes it by whatever name, so the kernel may keep
 * what it was told until it is told otherwise. inotify, which needs no privileges, sees what is
 * done by way of a directory that it watches; a hard link elsewhere, a directory too many, and it
 * is blind. So what it sees goes to the index, and the kernel asks again every second.
 */
#ifndef KINFS_FS_WATCH_WATCH_H
#define KINFS_FS_WATCH_WATCH_H

#include "fs/state.h"

/* The seconds for which the kernel may keep what nothing tells it of, and takes it for true,
 * whatever it was told meanwhile: the attributes in replies to what changes them. */
#define WATCH_SHORT_S 1.0

/* Begin to watch, as fs->options.watch says, from now on; fs->session is there. Where
 * nothing watches, what is mounted inside the tree is looked at when somebody asks (fs_settle()).
 *
 * Returns 0, -EOPNOTSUPP when the kind asked for cannot be had, -ENOMEM or -EAGAIN; with a line in
 * *ret_error (gives). */
int watch_start(struct fs *fs, char **ret_error);

/* After the last reply. Aborts the connection if that is the only way to end. */
void watch_stop(struct fs *fs);

/* The kernel has introduced itself. */
void watch_connected(struct fs *fs, unsigned protocol_minor);

/* For how many seconds the kernel may keep the attributes of an inode, or the names of a directory
 * (what they mean, and that there is none). To be asked before the tree is. Any thread; some
 * nanoseconds, but once for each directory an open(2). */
double watch_attr_timeout_s(struct fs *fs, const struct inode *inode);
double watch_entry_timeout_s(struct fs *fs, struct inode *directory);

void watch_get_status(struct fs *fs, struct fs_status *ret_status);

#endif
