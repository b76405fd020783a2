/* Looks into directories that may be locked for ever, as who asks (base/looks.h). */
#ifndef KINFS_FS_CALLERS_LOOKS_H
#define KINFS_FS_CALLERS_LOOKS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/looks.h"

/* Open a name in a directory as openat2(2) with O_PATH and O_NOFOLLOW does, as who the calling
 * thread is for the moment: its user, group and supplementary groups for files.
 *
 * No symbolic link is followed, none leads out, nor into what is mounted there: no server of a
 * mount is asked for anything.
 *
 * flags  more of them
 *
 * Returns a descriptor the caller closes, -EAGAIN or -ETIMEDOUT as looks_do(), -EXDEV of a mount
 * point or where it would lead out, -ENOMEM or another errno of openat2(2). Some microseconds
 * where the kernel knows the name.
 */
int looks_open(struct looking *looking, int dir_fd, const char *name, uint64_t flags);

/* The same of a path; the directories on the way count as their owners'. */
int looks_open_path(struct looking *looking, int root_fd, const char *path);

/* Read entries of a directory, as getdents64(2) does.
 *
 * from  offset of the first; negative: behind those read before
 *
 * Returns how many bytes; or an error as looks_open() or of lseek(2) or getdents64(2). After
 * -ETIMEDOUT another thread may be reading by the descriptor for ever, which is to be closed. */
int looks_list(struct looking *looking, int dir_fd, off_t from, void *buffer, size_t size);

#endif
