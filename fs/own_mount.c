#include "fs/own_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/mount.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/mounts/mount_id.h"
#include "base/mounts/mount_table.h"
#include "base/mounts/mount_user.h"
#include "base/proc_path.h"
#include "fs/callers/thread_rights.h"
#include "fs/state.h"

/* So often a mount may be moved while it is looked for. */
enum { MOVES_MAX = 16 };

/* The mount that stands on a directory, by the table of mounts alone: what is mounted over one
 * above is asked nothing. Nothing is learnt of another user's mount that has come there meanwhile.
 */
static bool learn(struct own_mount *own, int point_fd)
{
    char path[PATH_MAX];
    struct mount_id below;
    _cleanup_(mount_table_done) struct mount_table table = {0};
    struct mount_row row;
    uid_t user;
    if (proc_path_read(point_fd, path) <= 0 || mount_id_find(point_fd, "", &below) < 0 ||
        mount_table_open(&table, NULL) < 0)
        return false;
    while (mount_table_next(&table, &row) > 0) {
        if (row.parent_id != below.id || strcmp(row.point, path) != 0 ||
            strcmp(row.type, "fuse.kinfs") != 0 ||
            mount_user_of_options(row.type, row.options, &user) < 0 || !mount_user_is_trusted(user))
            continue;
        own->id = row.id;
        own->device = row.device;
        return true;
    }
    return false;
}

int own_mount_make(struct own_mount *own, struct fuse_session *session, int point_fd,
                   const char *point)
{
    struct thread_rights rights;
    if (geteuid() != 0 || thread_rights_get(&rights) < 0 ||
        !thread_rights_have(&rights, CAP_SYS_ADMIN))
        return fuse_session_mount(session, point) == 0 ? 0 : -EIO;
    own->is_direct = true;
    if (fuse_session_mount(session, proc_path_of(point_fd).text) < 0)
        return -EIO;
    for (int i = 0; i < MOVES_MAX && !learn(own, point_fd); i++)
        ;
    return own->id == 0;
}

/* The mount's own root, wherever that is; while it is open the kernel gives its numbers to no
 * other. Returns a descriptor, or -ENOENT. */
static int open_mount(const struct own_mount *own, struct fuse_session *session)
{
    for (int i = 0; own->id && i < MOVES_MAX; i++) {
        _cleanup_(mount_table_done) struct mount_table table = {0};
        struct mount_row row;
        struct mount_id mount;
        if (mount_table_find(&table, NULL, own->id, &row) < 0)
            break;
        _cleanup_close_ int fd = trust_open_mount_point(row.point);
        if (fd < 0 || mount_id_find(fd, "", &mount) < 0 || mount.id != own->id ||
            mount.device != own->device)
            continue;
        /* A connection that has ended may have left its numbers to another mount. */
        struct pollfd connection = {.fd = fuse_session_fd(session)};
        if (poll(&connection, 1, 0) != 0)
            break;
        return TAKE_FD(fd);
    }
    return -ENOENT;
}

static bool has_rights(int fd)
{
    struct statx st;
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MODE, &st) == 0 &&
           st.stx_mode & ALLPERMS;
}

void own_mount_ask(const struct own_mount *own, struct fuse_session *session, const char *point)
{
    enum { CROSSED_MOST = 16 }; /* or the root has no rights for anybody */
    struct statx st;
    _cleanup_close_ int fd = own->id ? open_mount(own, session) : trust_open_anywhere(point, NULL);
    for (int i = 0; fd >= 0 && i < CROSSED_MOST && !has_rights(fd); i++)
        if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_MODE, &st) < 0)
            break;
}

static void detach(struct own_mount *own, struct fuse_session *session, bool force)
{
    _cleanup_close_ int fd = open_mount(own, session);
    if (fd < 0)
        return;
    if (force) /* which is in use by this very descriptor: only what waits is failed */
        (void)umount2(proc_path_of(fd).text, MNT_FORCE);
    if (umount2(proc_path_of(fd).text, MNT_DETACH) == 0)
        own->id = 0;
}

void own_mount_force(struct own_mount *own, struct fuse_session *session)
{
    detach(own, session, true);
}

void own_mount_end(struct own_mount *own, struct fuse_session *session)
{
    detach(own, session, false);
    /* As root libfuse has umount(8) unmount what is left, which asks what covers it. */
    if (!own->is_direct)
        fuse_session_unmount(session);
}
