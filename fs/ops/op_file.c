#include "fs/ops/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "fs/inodes/identity.h"
#include "fs/inodes/inode_path.h"
#include "fs/inodes/notice.h"
#include "fs/inodes/open_file.h"
#include "fs/inodes/posix_lock.h"
#include "fs/inodes/stale.h"
#include "fs/views/views.h"
#include "fs/inodes/waiter.h"

/* Flags of open(2) for our descriptor. O_DIRECT asks for aligned buffers, which the requests of a
 * file without passthrough are not; with passthrough the kernel keeps the flag itself. */
static int backing_flags(int flags)
{
    return (flags & ~(O_DIRECT | O_NOCTTY)) | O_NOFOLLOW | O_CLOEXEC;
}

int open_as_caller(fuse_req_t req, struct inode *inode, int flags)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd borrowed = INODE_FD_NONE;
    if (!inode->by_name && !identity_is_judged(req, inode))
        return inode_open(&fs->inodes, inode, flags);
    int fd = borrow_fd(fs, inode, &borrowed);
    int r = fd < 0 ? fd : identity_enter_judged(req, inode);
    if (r == 0)
        r = inode_reopen(&fs->inodes, inode, fd, flags);
    identity_leave();
    return r;
}

/* As open(2) with O_TRUNC does; one that does not write is opened once more, in *fd. */
static int truncate_opened(fuse_req_t req, const struct inode *inode, int flags, int *fd)
{
    const int mode = flags & O_ACCMODE;
    int again = -1, r = identity_enter_judged(req, inode);
    if (r == 0 && (mode == O_WRONLY || mode == O_RDWR))
        r = ftruncate(*fd, 0) < 0 ? -errno : 0;
    else if (r == 0)
        r = again = inode_reopen(&fs_of(req)->inodes, inode, *fd, flags | O_TRUNC);
    identity_leave();
    if (again >= 0) {
        close(*fd);
        *fd = again;
    }
    return r < 0 ? r : 0;
}

/* may_wait: for whoever holds a lease on the file, as open(2) does; else -EWOULDBLOCK. */
static int do_open(fuse_req_t req, struct inode *inode, struct fuse_file_info *fi, bool may_wait,
                   struct open_file **ret_file)
{
    struct fs *fs = fs_of(req);
    const int flags = backing_flags(fi->flags) & ~(O_CREAT | O_EXCL | O_TRUNC);
    const int open_flags = flags | (may_wait ? 0 : O_NONBLOCK);
    _cleanup_close_ int owned = open_as_caller(req, inode, open_flags);
    if (owned < 0)
        return owned;
    struct statx stx;
    if (statx(owned, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &stx) < 0)
        return -errno;
    if (!inode->by_name && !inode_is_opened(&fs->inodes, inode, &stx))
        return -ESTALE;
    if (!stx.stx_nlink && !inode_is_pinned(&fs->inodes, inode) &&
        !gone_is_back(&fs->inodes.gone, inode)) {
        gone_tell(&fs->inodes.gone, inode);
        return -ESTALE;
    }
    gone_over(&fs->inodes.gone);
    const struct stat st = stat_told(&stx);
    /* Not before: by an old name the file may be one that nobody means. */
    int r = fi->flags & O_TRUNC ? truncate_opened(req, inode, open_flags, &owned) : 0;
    if (r < 0)
        return r;
    if (fi->flags & O_TRUNC)
        notice_content(fs, fuse_req_ctx(req)->uid, inode);
    else
        stale_unless_told(fs, inode, &st);
    bool append_only = stx.stx_attributes & STATX_ATTR_APPEND;
    const int fd = owned;
    r = open_file_new(req, inode, TAKE_FD(owned), append_only, fi, ret_file);
    /* The descriptor that we read and write by shall be as it was asked for. */
    if (r == 0 && (fi->backing_id <= 0 || fi->direct_io) && !may_wait && !(flags & O_NONBLOCK))
        fcntl(fd, F_SETFL, flags);
    return r;
}

/* One that was opened, or was not after all. */
static int keep_descriptor(fuse_req_t req, uid_t payer, int r, struct open_file **file)
{
    if (r < 0)
        user_room_leave(&fs_of(req)->inodes.descriptors, payer, 1);
    else
        (*file)->payer = payer;
    return r;
}

static int open_in_room(fuse_req_t req, struct inode *inode, struct fuse_file_info *fi,
                        bool may_wait, struct open_file **ret_file)
{
    uid_t payer;
    int r = fs_take_descriptors(req, 1, &payer);
    if (r == 0)
        r = keep_descriptor(req, payer, do_open(req, inode, fi, may_wait, ret_file), ret_file);
    return r;
}

static void reply_open(fuse_req_t req, int r, const struct fuse_file_info *fi,
                       struct open_file *file)
{
    struct fs *fs = fs_of(req);
    if (r < 0)
        reply(req, r);
    else if (fuse_reply_open(req, fi) == -ENOENT) /* nobody there to release it */
        open_file_release(fs, file);
}

/* Until a lease has been given up, or was broken because it was not, a file cannot be opened. */
struct lease_waiter {
    struct waiter waiter;
    struct inode *inode; /* the kernel's until the reply */
    struct fuse_file_info fi;
    struct open_file *file;
};

static int open_leased(struct waiter *user)
{
    struct lease_waiter *waiter = (struct lease_waiter *)user;
    return open_in_room(user->req, waiter->inode, &waiter->fi, true, &waiter->file);
}

static void reply_leased(struct waiter *user, int r)
{
    struct lease_waiter *waiter = (struct lease_waiter *)user;
    reply_open(user->req, r, &waiter->fi, waiter->file);
    free(waiter);
}

static void wait_for_lease(fuse_req_t req, struct inode *inode, const struct fuse_file_info *fi)
{
    struct lease_waiter *waiter = malloc(sizeof(*waiter));
    if (!waiter) {
        reply(req, -ENOMEM);
        return;
    }
    *waiter = (struct lease_waiter){
        .waiter = {.req = req, .call = open_leased, .answer = reply_leased},
        .inode = inode,
        .fi = *fi,
    };
    int r = waiter_start(fs_of(req)->waiters, &waiter->waiter);
    if (r < 0)
        reply_leased(&waiter->waiter, r);
}

void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_open(fs, req, view, fi);
        return;
    }
    struct open_file *file = NULL;
    int r = open_in_room(req, inode_of(fs, ino), fi, false, &file);
    if (r == -EWOULDBLOCK && !(fi->flags & O_NONBLOCK))
        wait_for_lease(req, inode_of(fs, ino), fi);
    else
        reply_open(req, r, fi, file);
}

/* A descriptor just made in a directory, as an open file and an entry. Takes it. */
static int enter_created(fuse_req_t req, struct inode *parent, const char *name, int fd,
                         struct fuse_file_info *fi, struct fuse_entry_param *ret_entry,
                         struct open_file **ret_file)
{
    struct fs *fs = fs_of(req);
    _cleanup_close_ int owned = fd;
    int r = make_entry_fd(fs, parent, name, fd, ret_entry);
    if (r < 0)
        return r;
    struct inode *inode = inode_of(fs, ret_entry->ino);
    r = open_file_new(req, inode, TAKE_FD(owned), false, fi, ret_file);
    if (r < 0)
        inode_forget(&fs->inodes, inode, 1);
    return r;
}

static void reply_create(fuse_req_t req, int r, const struct fuse_entry_param *entry,
                         const struct fuse_file_info *fi, struct open_file *file)
{
    struct fs *fs = fs_of(req);
    if (r < 0) {
        reply(req, r);
    } else if (fuse_reply_create(req, entry, fi) == -ENOENT) {
        open_file_release(fs, file);
        inode_forget(&fs->inodes, inode_of(fs, entry->ino), 1);
    }
}

/* A file that is already there, made beside the mount since the kernel looked, is not opened here:
 * whether the caller may, the kernel has not asked. Told ESTALE it looks again, and then it does.
 */
static int refuse_existing(struct fs *fs, int dirfd, const char *name)
{
    struct statx st;
    if (mount_point_stat(dirfd, name, &st) == 0 && S_ISDIR(st.stx_mode))
        return -EISDIR;
    gone_tell(&fs->inodes.gone, NULL);
    return -ESTALE;
}

static int create_at(fuse_req_t req, const struct inode *parent, int dirfd, const char *name,
                     int flags, mode_t mode)
{
    int fd;
    do {
        int r = identity_enter(req, parent, mode);
        if (r < 0)
            return r;
        fd = openat(dirfd, name, flags, mode);
        identity_leave();
    } while (fd < 0 && (errno == EMFILE || errno == ENFILE) &&
             inode_table_shed(&fs_of(req)->inodes));
    return fd < 0 ? -errno : fd;
}

static int do_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
                     struct fuse_file_info *fi, struct fuse_entry_param *ret_entry,
                     struct open_file **ret_file)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    int dirfd = borrow_fd(fs, inode_of(fs, parent), &dir);
    if (dirfd < 0)
        return dirfd;
    int r = check_name(fs, inode_of(fs, parent), dirfd, name);
    if (r < 0)
        return r;
    int fd = create_at(req, inode_of(fs, parent), dirfd, name,
                       backing_flags(fi->flags) | O_CREAT | O_EXCL, mode);
    if (fd == -EEXIST && !(fi->flags & O_EXCL))
        return refuse_existing(fs, dirfd, name);
    if (fd < 0)
        return fd;
    notice_entry(req, inode_of(fs, parent), name);
    return enter_created(req, inode_of(fs, parent), name, fd, fi, ret_entry, ret_file);
}

void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode,
               struct fuse_file_info *fi)
{
    struct fuse_entry_param entry;
    struct open_file *file = NULL;
    struct view_node *view = view_of(fs_of(req), parent);
    if (view) {
        views_create(fs_of(req), req, view, name, fi);
        return;
    }
    uid_t payer;
    int r = fs_take_descriptors(req, 1, &payer);
    if (r == 0)
        r = keep_descriptor(req, payer, do_create(req, parent, name, mode, fi, &entry, &file),
                            &file);
    reply_create(req, r, &entry, fi, file);
}

static int do_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi,
                      struct fuse_entry_param *ret_entry, struct open_file **ret_file)
{
    struct fs *fs = fs_of(req);
    _cleanup_inode_fd_ struct inode_fd dir = INODE_FD_NONE;
    if (view_of(fs, parent))
        return -EROFS;
    int dirfd = borrow_fd(fs, inode_of(fs, parent), &dir);
    if (dirfd < 0)
        return dirfd;
    int fd = create_at(req, inode_of(fs, parent), dirfd, ".",
                       (backing_flags(fi->flags) & ~O_CREAT) | O_TMPFILE, mode);
    if (fd < 0)
        return fd;
    int r = enter_created(req, NULL, NULL, fd, fi, ret_entry, ret_file);
    if (r == 0)
        inode_pin(&fs->inodes, (*ret_file)->inode, (*ret_file)->fd);
    return r;
}

void op_tmpfile(fuse_req_t req, fuse_ino_t parent, mode_t mode, struct fuse_file_info *fi)
{
    struct fuse_entry_param entry;
    struct open_file *file = NULL;
    uid_t payer;
    int r = fs_take_descriptors(req, 1, &payer);
    if (r == 0)
        r = keep_descriptor(req, payer, do_tmpfile(req, parent, mode, fi, &entry, &file), &file);
    reply_create(req, r, &entry, fi, file);
}

/* close(2) waits for this, so whoever closes sees the content in the next view. A close of a copy
 * lets a network file system answer with its delayed errors. */
static int do_flush(struct fs *fs, const struct fuse_file_info *fi)
{
    struct open_file *file = open_file_of(fi);
    posix_lock_drop_owner(fs, file->inode, fi->lock_owner);
    int copy = fcntl(file->fd, F_DUPFD_CLOEXEC, 0);
    /* That descriptors have run out says nothing of the file. */
    int r = copy >= 0 && close(copy) < 0 ? -errno : 0;
    if (file->writes) {
        struct stat st;
        if (fstat(file->fd, &st) == 0)
            inode_note_closed(&fs->inodes, file->inode, &st);
        notice_content(fs, file->uid, file->inode);
    }
    return r;
}

void op_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    reply(req, view_of(fs, ino) ? 0 : do_flush(fs, fi));
}

void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct view_node *view = view_of(fs, ino);
    if (view) {
        views_release(fs, req, view, fi);
        return;
    }
    /* A waiter for a lock may hold the descriptor a little longer. */
    if (fi->flock_release)
        flock(open_file_of(fi)->fd, LOCK_UN);
    open_file_release(fs, open_file_of(fi));
    reply(req, 0);
}
