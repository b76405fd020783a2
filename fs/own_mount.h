/* The mount of this daemon, told from all others by what the kernel calls it. A path is no name for
 * it: who owns a directory above can move the mount elsewhere, and put another in its place.
 */
#ifndef KINFS_FS_OWN_MOUNT_H
#define KINFS_FS_OWN_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct fuse_session;

struct own_mount {
    uint64_t id;     /* 0: not known, and not for this process to unmount but by libfuse */
    uint64_t device; /* of its file system */
    bool is_direct;  /* this process mounted it, and not fusermount3 */
};

/* Mount a session. Root mounts on the directory that was opened, wherever it is by now; who may not
 * mount has fusermount3, which takes a path and looks itself.
 *
 * point_fd  the mount point, O_PATH; may be closed afterwards
 *
 * Returns 0; 1 when it is mounted and was moved or covered at once, so that it is not found again
 * and own_mount_end() cannot unmount it; or -EIO when libfuse has said why not. Once in a process
 * before there are threads; reads the table of mounts. */
int own_mount_make(struct own_mount *own, struct fuse_session *session, int point_fd,
                   const char *point);

/* Have the kernel ask for the root once requests are served: it has no rights for it before, and
 * throws away a reply that crosses the notice of a change in the root, upon which it refuses
 * whoever came first. Asks the daemon, from a thread that does not serve. */
void own_mount_ask(const struct own_mount *own, struct fuse_session *session, const char *point);

/* Fail all that waits for the daemon, and unmount. Of ordinary users: nothing. */
void own_mount_force(struct own_mount *own, struct fuse_session *session);

/* Unmount if still mounted, wherever it is by now, and nothing else. What another user's mount
 * covers stays, and is dead when the session has been destroyed. */
void own_mount_end(struct own_mount *own, struct fuse_session *session);

#endif
