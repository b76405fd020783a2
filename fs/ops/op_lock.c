#include "fs/ops/ops.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#include "fs/inodes/lock_wait.h"
#include "fs/inodes/open_file.h"
#include "fs/inodes/posix_lock.h"

static int do_getlk(struct fs *fs, const struct fuse_file_info *fi, struct flock *lock)
{
    struct open_file *file = open_file_of(fi);
    /* To one without locks all are others'. */
    struct lock_owner *owner = posix_lock_known(fs, file->inode, fi->lock_owner);
    lock->l_pid = 0;
    int fd = owner ? posix_lock_fd(owner) : file->fd;
    int r = fcntl(fd, F_OFD_GETLK, lock) < 0 ? -errno : 0;
    /* The backing tree knows no process for a lock of ours. */
    if (r == 0 && lock->l_type != F_UNLCK && lock->l_pid < 0)
        lock->l_pid = posix_lock_other_pid(fs, file->inode, owner);
    if (owner)
        posix_lock_unref(owner);
    return r;
}

void op_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
    struct fs *fs = fs_of(req);
    int r = view_of(fs, ino) ? -EOPNOTSUPP : do_getlk(fs, fi, lock);
    if (r < 0)
        reply(req, r);
    else
        fuse_reply_lock(req, lock);
}

void op_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock,
              int sleep)
{
    struct fs *fs = fs_of(req);
    struct lock_owner *owner = NULL;
    if (view_of(fs, ino)) {
        reply(req, -EOPNOTSUPP);
        return;
    }
    struct open_file *file = open_file_of(fi);
    struct locker locker = {.id = fi->lock_owner, .pid = lock->l_pid, .waits = false};
    lock->l_pid = 0;
    int r = 0;
    if (lock->l_type != F_UNLCK)
        r = posix_lock_owner(req, file, &locker, &owner);
    else /* of what was never locked there is no owner, and none is made */
        owner = posix_lock_known(fs, file->inode, fi->lock_owner);
    if (owner)
        r = fcntl(posix_lock_fd(owner), F_OFD_SETLK, lock) < 0 ? -errno : 0;
    if (owner)
        posix_lock_unref(owner);
    if (sleep && (r == -EAGAIN || r == -EACCES)) {
        locker.waits = true;
        lock_wait(req, &(struct lock_wanted){
                           .file = open_file_ref(file), .lock = *lock, .locker = locker});
        return;
    }
    reply(req, r);
}

void op_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int op)
{
    if (view_of(fs_of(req), ino)) {
        reply(req, -EOPNOTSUPP);
        return;
    }
    struct open_file *file = open_file_of(fi);
    int r = flock(file->fd, op | LOCK_NB) < 0 ? -errno : 0;
    if (r == -EWOULDBLOCK && !(op & LOCK_NB))
        lock_wait(req, &(struct lock_wanted){.file = open_file_ref(file), .flock_op = op});
    else
        reply(req, r);
}
