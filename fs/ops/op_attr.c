#include "fs/ops/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/identity.h"
#include "fs/inodes/inode_path.h"
#include "fs/inodes/notice.h"
#include "fs/inodes/open_file.h"
#include "fs/views/views.h"
#include "fs/watch/watch.h"

static int tell_stat(struct fs *fs, struct inode *inode, int fd, struct stat *ret_stat)
{
    if (fstat(fd, ret_stat) < 0)
        return -errno;
    inode_tell(&fs->inodes, inode, ret_stat);
    ret_stat->st_ino = inode_number(inode, ret_stat->st_ino);
    return 0;
}

/* The attributes are those of the file that may be open: fstat(2) of a directory that was removed
 * beside the mount is not asked again when it fails, and a path that led there leads elsewhere as
 * soon as that is told. */
int borrow_attributes_fd(struct fs *fs, struct inode *inode, const struct fuse_file_info *fi,
                         struct inode_fd *ret_fd)
{
    if (fi && inode->type == S_IFREG)
        return open_file_of(fi)->fd;
    int fd = borrow_fd(fs, inode, ret_fd);
    return fd == -ESTALE && inode->type == S_IFDIR
               ? inode_path_borrow_held(&fs->inodes, inode, ret_fd)
               : fd;
}

static int do_getattr(fuse_req_t req, struct inode *inode, const struct fuse_file_info *fi,
                      struct stat *ret_stat)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_attributes_fd(fs, inode, fi, &borrowed);
    int r = fd < 0 ? fd : identity_enter_judged(req, inode);
    if (r == 0)
        r = tell_stat(fs, inode, fd, ret_stat);
    identity_leave();
    return r;
}

/* inode: NULL for a node of the views. */
static void reply_attr(fuse_req_t req, int r, const struct inode *inode, struct stat *st,
                       double timeout_s)
{
    if (r == 0 && inode)
        hide_denied(fs_of(req), inode, st);
    if (r < 0)
        reply(req, r);
    else
        fuse_reply_attr(req, st, lasting_s(timeout_s, st->st_mode));
}

void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    struct inode *inode;
    struct stat st;
    int r = find_seen(req, ino, &inode);
    double timeout_s = view ? 0 : watch_attr_timeout_s(fs, inode);
    if (r == 0)
        r = inode ? do_getattr(req, inode, view ? NULL : fi, &st) : views_stat(fs, view, &st);
    if (r == 0 && inode && view)
        views_unique_stat(view, &st);
    reply_attr(req, r, inode, &st, timeout_s);
}

/* A kernel that leaves the clearing of these bits to nobody has them cleared for who writes: one of
 * them or both. An sgid bit that it leaves is of no use to who executes, and may go. */
static bool only_clears_bits(const struct fs *fs, int fd, mode_t mode)
{
    const mode_t bits = S_ISUID | S_ISGID;
    struct stat st;
    return !fs->status.killpriv_v2 && fstat(fd, &st) == 0 &&
           (mode | bits) == ((st.st_mode & 07777) | bits) && !(mode & bits & ~st.st_mode);
}

static int change_mode(const struct change_fds *fds, const void *mode,
                       const struct capable_ids *ids)
{
    (void)ids;
    return chmod(proc_path_of(fds->fd).text, *(const mode_t *)mode) < 0 ? -errno : 0;
}

static int set_mode(fuse_req_t req, const struct inode *inode, int fd, mode_t mode)
{
    const struct change_fds fds = change_of(fd);
    return only_clears_bits(fs_of(req), fd, mode)
               ? change_mode(&fds, &mode, NULL)
               : identity_change(req, inode, &fds, false, mode & S_ISGID, change_mode, &mode);
}

struct owner_change {
    uid_t uid; /* or -1: not that one */
    gid_t gid;
};

static int change_owner(const struct change_fds *fds, const void *what,
                        const struct capable_ids *ids)
{
    const struct owner_change *change = what;
    const uid_t uid = capable_uid(ids, change->uid);
    const gid_t gid = capable_gid(ids, change->gid);
    if ((change->uid != (uid_t)-1 && uid == (uid_t)-1) ||
        (change->gid != (gid_t)-1 && gid == (gid_t)-1))
        return -EINVAL;
    return fchownat(fds->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int set_owner(fuse_req_t req, const struct inode *inode, int fd, const struct stat *attr,
                     int to_set)
{
    struct stat st;
    const struct change_fds fds = change_of(fd);
    const struct owner_change change = {
        .uid = to_set & FUSE_SET_ATTR_UID ? attr->st_uid : (uid_t)-1,
        .gid = to_set & FUSE_SET_ATTR_GID ? attr->st_gid : (gid_t)-1,
    };
    if (fstat(fd, &st) < 0)
        return -errno;
    bool with_groups =
        change.gid != (gid_t)-1 && change.gid != st.st_gid && change.gid != fuse_req_ctx(req)->gid;
    /* Without the x of the group the sgid bit stays for those who are of it. */
    return identity_change(req, inode, &fds, with_groups, st.st_mode & S_ISGID, change_owner,
                           &change);
}

static int truncate_open(fuse_req_t req, const struct inode *inode, int fd, off_t size)
{
    int r = identity_enter_transfer(req, inode);
    if (r == 0 && ftruncate(fd, size) < 0)
        r = -errno;
    identity_leave();
    return r;
}

static int set_size(fuse_req_t req, struct inode *inode, off_t size,
                    const struct fuse_file_info *fi)
{
    if (fi && open_file_of(fi)->writes)
        return truncate_open(req, inode, open_file_of(fi)->fd, size);
    /* truncate(2) would wait for whoever holds a lease on the file, while the kernel holds the
     * file's lock; who removes the file waits for that with the lock of its directory, and so would
     * everybody in it. */
    _cleanup_close_ int own = open_as_caller(req, inode, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
    return own < 0 ? own : truncate_open(req, inode, own, size);
}

struct times_change {
    struct timespec times[2];
};

static int change_times(const struct change_fds *fds, const void *what,
                        const struct capable_ids *ids)
{
    const struct times_change *change = what;
    const int flags = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
    (void)ids;
    return utimensat(fds->fd, "", change->times, flags) < 0 ? -errno : 0;
}

static int set_times(fuse_req_t req, const struct inode *inode, int fd, const struct stat *attr,
                     int to_set)
{
    const struct change_fds fds = change_of(fd);
    struct times_change change = {.times = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}}};
    if (to_set & FUSE_SET_ATTR_ATIME_NOW)
        change.times[0].tv_nsec = UTIME_NOW;
    else if (to_set & FUSE_SET_ATTR_ATIME)
        change.times[0] = attr->st_atim;
    if (to_set & FUSE_SET_ATTR_MTIME_NOW)
        change.times[1].tv_nsec = UTIME_NOW;
    else if (to_set & FUSE_SET_ATTR_MTIME)
        change.times[1] = attr->st_mtim;
    return identity_change(req, inode, &fds, false, false, change_times, &change);
}

static int do_setattr(fuse_req_t req, struct inode *inode, const struct stat *attr, int to_set,
                      const struct fuse_file_info *fi, struct stat *ret_stat)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_fd(fs, inode, &borrowed);
    if (fd < 0)
        return fd;
    int r = 0;
    /* The owner first: chown(2) takes away the suid bits that the mode may set. */
    if (to_set & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
        r = set_owner(req, inode, fd, attr, to_set);
    if (r == 0 && to_set & FUSE_SET_ATTR_SIZE)
        r = set_size(req, inode, attr->st_size, fi);
    if (r == 0 && to_set & FUSE_SET_ATTR_MODE)
        r = set_mode(req, inode, fd, attr->st_mode & 07777);
    if (r == 0 && to_set & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW |
                            FUSE_SET_ATTR_MTIME_NOW))
        r = set_times(req, inode, fd, attr, to_set);
    notice_content(fs, fuse_req_ctx(req)->uid, inode);
    if (r < 0)
        return r;
    inode_change_begin(&fs->inodes, inode, NULL);
    r = tell_stat(fs, inode, fd, ret_stat);
    if (r == 0)
        inode_changed(&fs->inodes, inode, ret_stat);
    return r;
}

void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
                struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct inode *inode = view_of(fs, ino) ? NULL : inode_of(fs, ino);
    struct stat st;
    double timeout_s = inode ? watch_attr_timeout_s(fs, inode) : 0;
    int r = inode ? do_setattr(req, inode, attr, to_set, fi, &st) : -EROFS;
    reply_attr(req, r, inode, &st, timeout_s);
}

static int do_readlink(fuse_req_t req, struct inode *inode, char target[PATH_MAX + 1])
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    int r = fd < 0 ? fd : identity_enter_judged(req, inode);
    if (r < 0)
        return r;
    ssize_t n_bytes = readlinkat(fd, "", target, PATH_MAX + 1);
    identity_leave();
    if (n_bytes < 0)
        return -errno;
    if (n_bytes > PATH_MAX)
        return -ENAMETOOLONG;
    target[n_bytes] = '\0';
    return 0;
}

void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_readlink(fs, req, view);
        return;
    }
    char target[PATH_MAX + 1];
    int r = do_readlink(req, inode_of(fs, ino), target);
    if (r < 0)
        reply(req, r);
    else
        fuse_reply_readlink(req, target);
}

static int do_statfs(fuse_req_t req, struct inode *inode, struct statvfs *ret_statfs)
{
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    int fd = borrow_fd(fs_of(req), inode, &borrowed);
    int r = fd < 0 ? fd : identity_enter_judged(req, inode);
    if (r == 0 && fstatvfs(fd, ret_statfs) < 0)
        r = -errno;
    identity_leave();
    return r;
}

void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_statfs(fs, req, view);
        return;
    }
    struct statvfs st;
    int r = do_statfs(req, inode_of(fs, ino), &st);
    if (r < 0)
        reply(req, r);
    else
        fuse_reply_statfs(req, &st);
}
