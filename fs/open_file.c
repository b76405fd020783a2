#include "fs/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "fs/identity.h"
#include "fs/notice.h"
#include "fs/posix_lock.h"

struct open_file *open_file_ref(struct open_file *file)
{
    atomic_fetch_add_explicit(&file->n_refs, 1, memory_order_relaxed);
    return file;
}

void open_file_unref(struct open_file *file)
{
    if (atomic_fetch_sub_explicit(&file->n_refs, 1, memory_order_acq_rel) != 1)
        return;
    close(file->fd);
    free(file);
}

int open_file_new(fuse_req_t req, struct inode *inode, int fd, struct fuse_file_info *fi,
                  struct open_file **ret_file)
{
    struct fs *fs = fs_of(req);
    _cleanup_close_ int owned = fd;
    struct open_file *file = malloc(sizeof(*file));
    if (!file)
        return -ENOMEM;
    bool writes = (fi->flags & O_ACCMODE) != O_RDONLY;
    *file = (struct open_file){.inode = inode,
                               .fd = TAKE_FD(owned),
                               .uid = fuse_req_ctx(req)->uid,
                               .writes = writes,
                               .may_store = (fi->flags & O_ACCMODE) == O_RDWR,
                               .n_refs = 1};
    {
        LOCKED(inode_lock(&fs->inodes, inode));
        /* The credentials of this thread become those of all reads and writes the kernel makes by
         * the id: see fs/identity.h for what it must not hold. Any access mode serves. */
        if (!inode->files) {
            identity_enter_allocation(req);
            inode->backing_id = fs->status.passthrough ? fuse_passthrough_open(req, file->fd) : 0;
            identity_leave();
        }
        file->next = inode->files;
        inode->files = file;
        fi->backing_id = inode->backing_id;
        /* Any close of a file ends a process's record locks on it, of which a flush tells. */
        fi->noflush = !writes && !inode->owners;
    }
    fi->fh = (uintptr_t)file;
    if (writes)
        notice_writing(fs, inode, 1);
    *ret_file = file;
    return 0;
}

bool open_file_is_cached(struct fs *fs, const struct inode *inode)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    return inode->files && inode->backing_id <= 0;
}

void open_file_release(fuse_req_t req, struct open_file *file)
{
    struct fs *fs = fs_of(req);
    struct inode *inode = file->inode;
    struct lock_owner *taken;
    {
        LOCKED(inode_lock(&fs->inodes, inode));
        struct open_file **link = &inode->files;
        while (*link != file)
            link = &(*link)->next;
        *link = file->next;
        taken = posix_lock_take_file(inode, file);
        if (!inode->files && inode->backing_id > 0) {
            fuse_passthrough_close(req, inode->backing_id);
            inode->backing_id = 0;
        }
    }
    posix_lock_drop(taken);
    if (file->writes)
        notice_writing(fs, inode, -1);
    user_room_leave(&fs->inodes.descriptors, file->uid, 1);
    open_file_unref(file);
}

void open_file_close_all(struct inode *inode)
{
    while (inode->files) {
        struct open_file *file = inode->files;
        inode->files = file->next;
        posix_lock_drop(posix_lock_take_file(inode, file));
        open_file_unref(file);
    }
    posix_lock_drop(posix_lock_take_all(inode));
}
