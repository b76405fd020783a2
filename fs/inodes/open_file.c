#include "fs/inodes/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/cleanup.h"
#include "fs/inodes/identity.h"
#include "fs/inodes/notice.h"
#include "fs/inodes/posix_lock.h"

/* The ioctl is that of <linux/fuse.h> since Linux 6.9. */
#define BACKING_CLOSE _IOW(229, 2, uint32_t)

struct open_file *open_file_ref(struct open_file *file)
{
    atomic_fetch_add_explicit(&file->n_refs, 1, memory_order_relaxed);
    return file;
}

static bool is_last(struct open_file *file)
{
    return atomic_fetch_sub_explicit(&file->n_refs, 1, memory_order_acq_rel) == 1;
}

void open_file_unref(struct open_file *file)
{
    if (!is_last(file))
        return;
    close(file->fd);
    user_room_leave(&file->table->descriptors, file->payer, 1);
    free(file);
}

void open_file_unref_late(struct open_file *file)
{
    if (!is_last(file))
        return;
    inode_close_paid(file->table, file->fd, file->payer, true);
    free(file);
}

/* A page that the kernel wrote by itself would be written as the one who opened the inode first. */
static bool writes_as_another(const struct inode *inode, const struct open_file *file)
{
    return inode->backing_id > 0 && file->writes && file->uid != inode->backing_uid &&
           identity_can_switch();
}

/* O_APPEND, which fcntl(2) can take away, is kept by the kernel for all writes that it passes
 * through. */
static bool would_append(const struct inode *inode, const struct open_file *file, int flags)
{
    return inode->backing_id > 0 && file->writes && flags & O_APPEND;
}

/* Under inode_lock(): a file that may be mapped for writing came (1) or goes (-1). */
static void count_store(struct inode *inode, int by)
{
    if (inode->backing_id > 0)
        atomic_fetch_add(&inode->n_may_store, (unsigned)by);
    else
        inode->n_may_store_here += (unsigned)by;
}

/* Decides for all files of the inode at the first, and for each how the kernel treats it; and lists
 * it. */
static int enter(fuse_req_t req, struct open_file *file, bool append_only,
                 struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct inode *inode = file->inode;
    LOCKED(inode_lock(&fs->inodes, inode));
    /* The credentials of this thread become those of all reads and writes the kernel makes by the
     * id: see fs/inodes/identity.h for what it must not hold. Any access mode serves. */
    if (LIST_EMPTY(&inode->files) && fs->status.passthrough && !append_only &&
        inode_judges(&fs->inodes, inode) == JUDGES_BY_MODE) {
        identity_enter_allocation(fuse_req_ctx(req)->uid);
        inode->backing_id = fuse_passthrough_open(req, file->fd);
        identity_leave();
        inode->backing_uid = file->uid;
    }
    fi->direct_io = (append_only && file->writes) || writes_as_another(inode, file) ||
                    would_append(inode, file, fi->flags);
    /* The flag came while it was open: what is passed through could be written to anywhere, by
     * asynchronous requests of who takes O_APPEND away, and the kernel allows no other opening. */
    if (append_only && file->writes && inode->backing_id > 0)
        return -EBUSY;
    LIST_INSERT_HEAD(&inode->files, file, of_inode);
    fi->backing_id = inode->backing_id;
    if (file->may_store)
        count_store(inode, 1);
    /* Any close of a file ends a process's record locks on it, of which a flush tells. */
    fi->noflush = !file->writes && LIST_EMPTY(&inode->owners);
    return 0;
}

int open_file_new(fuse_req_t req, struct inode *inode, int fd, bool append_only,
                  struct fuse_file_info *fi, struct open_file **ret_file)
{
    _cleanup_close_ int owned = fd;
    _cleanup_free_ struct open_file *file = malloc(sizeof(*file));
    if (!file)
        return -ENOMEM;
    *file = (struct open_file){.inode = inode,
                               .fd = fd,
                               .uid = fuse_req_ctx(req)->uid,
                               .table = &fs_of(req)->inodes,
                               .writes = (fi->flags & O_ACCMODE) != O_RDONLY,
                               .may_store = (fi->flags & O_ACCMODE) == O_RDWR,
                               .n_refs = 1};
    int r = enter(req, file, append_only, fi);
    if (r < 0)
        return r;
    (void)TAKE_FD(owned);
    inode_ref(&fs_of(req)->inodes, inode);
    fi->fh = (uintptr_t)file;
    if (file->writes)
        notice_writing(fs_of(req), file->uid, inode, 1);
    *ret_file = TAKE_PTR(file);
    return 0;
}

bool open_file_is_cached(struct fs *fs, const struct inode *inode)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    return !LIST_EMPTY(&inode->files) && inode->backing_id <= 0;
}

void open_file_release(struct fs *fs, struct open_file *file)
{
    struct inode *inode = file->inode;
    struct lock_owner *taken;
    uint32_t unused_id = 0;
    {
        LOCKED(inode_lock(&fs->inodes, inode));
        LIST_REMOVE(file, of_inode);
        taken = posix_lock_take_file(file);
        if (file->may_store)
            count_store(inode, -1);
        if (LIST_EMPTY(&inode->files)) {
            if (inode->backing_id > 0)
                unused_id = (uint32_t)inode->backing_id;
            inode->backing_id = 0;
        }
    }
    /* The id may hold the last of a file that writes what was stored in it when it is closed, and
     * its file system may never answer. The kernel has let go of the id with the last file, so
     * whoever opens the inode meanwhile gets another. */
    if (unused_id)
        ioctl(fuse_session_fd(fs->session), BACKING_CLOSE, &unused_id);
    posix_lock_drop(taken);
    if (file->writes)
        notice_writing(fs, file->uid, inode, -1);
    inode_unref(&fs->inodes, inode);
    open_file_unref(file);
}

void open_file_close_all(struct inode *inode)
{
    struct open_file *file;
    while ((file = LIST_FIRST(&inode->files))) {
        LIST_REMOVE(file, of_inode);
        posix_lock_drop(posix_lock_take_file(file));
        open_file_unref_late(file);
    }
}
