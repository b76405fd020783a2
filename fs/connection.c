#include "fs/connection.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "fs/inodes/identity.h"
#include "fs/watch/watch.h"

/* Requests the kernel may have under way in the background (read-ahead, asynchronous I/O, and that
 * a file was closed or unlocked): its own 12 starve two cores. Where there are so many, all others
 * of all users wait; so it is more than can stand at a time, in the queue of the views and on the
 * threads that serve (1,032 and 512). */
enum { MOST_IN_BACKGROUND = 2048 };

void op_init(void *user, struct fuse_conn_info *connection)
{
    struct fs *fs = user;
    LOCKED(&fs->status_lock);
    struct fs_status *status = &fs->status;

    /* Without it each write(2) asks for security.capability first, with it the backing tree clears
     * suid bits itself. */
    status->killpriv_v2 = fuse_set_feature_flag(connection, FUSE_CAP_HANDLE_KILLPRIV_V2);
    /* The umask is applied by the backing tree, which knows of default access control lists. */
    fuse_set_feature_flag(connection, FUSE_CAP_DONT_MASK);
    /* Also where the tree has none: a file system mounted inside it may have some. The kernel asks
     * for those of each inode, and keeps what it is told; see op_getxattr(). */
    status->posix_acl = fuse_set_feature_flag(connection, FUSE_CAP_POSIX_ACL);
    fuse_set_feature_flag(connection, FUSE_CAP_PARALLEL_DIROPS);
    fuse_set_feature_flag(connection, FUSE_CAP_SPLICE_WRITE);
    /* Requests are too small to be worth a pipe, of which the library makes and drops one for each
     * where it cannot have them as large as the largest request. */
    fuse_unset_feature_flag(connection, FUSE_CAP_SPLICE_READ);
    /* An NFS server would need node ids that outlive the daemon. */
    fuse_set_feature_flag(connection, FUSE_CAP_NO_EXPORT_SUPPORT);

    /* Not beside a write-back cache, which is never asked for: it would delay what close(2)
     * promises to the views. Backing trees that are themselves stacked (overlayfs) answer ELOOP to
     * the depth of 0, and are read and written here. */
    fuse_unset_feature_flag(connection, FUSE_CAP_WRITEBACK_CACHE);
    status->passthrough = fs->options.passthrough && identity_can_pass_through() &&
                          fuse_set_feature_flag(connection, FUSE_CAP_PASSTHROUGH);
    connection->max_backing_stack_depth = 0;
    connection->max_background = MOST_IN_BACKGROUND;

    atomic_store(&fs->protocol_minor, connection->proto_minor);
    watch_connected(fs, connection->proto_minor);
    status->handles = backing_has_handles(fs->backing);
    snprintf(status->libfuse, sizeof(status->libfuse), "%s", fuse_pkgversion());
    snprintf(status->protocol, sizeof(status->protocol), "%u.%u", connection->proto_major,
             connection->proto_minor);
}
