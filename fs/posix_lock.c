#include "fs/posix_lock.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct lock_owner {
    struct lock_owner *next; /* of the inode; under inode_lock(), as are id, file and pid */
    uint64_t id;
    const struct open_file *file; /* through which it last locked; compared, never followed */
    pid_t pid;
    int fd;
    uid_t uid; /* who first locked by it, and has it of this room */
    struct user_room *room;
    atomic_uint n_refs; /* the inode's list, and who waits for a lock */
};

void posix_lock_unref(struct lock_owner *owner)
{
    if (atomic_fetch_sub_explicit(&owner->n_refs, 1, memory_order_acq_rel) != 1)
        return;
    close(owner->fd); /* and with it go the locks */
    user_room_leave(owner->room, owner->uid, 1);
    free(owner);
}

int posix_lock_fd(const struct lock_owner *owner)
{
    return owner->fd;
}

/* A lock for writing needs a descriptor for writing, which the caller's file may not be now but
 * another of its files later: both ways where possible. Who holds a lease against writers is not
 * waited for here. */
static int open_for_locks(const struct open_file *file)
{
    struct proc_path path = proc_path_of(file->fd);
    static const int modes[] = {O_RDWR, O_RDONLY, O_WRONLY};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof(modes) / sizeof(*modes); i++) {
        fd = open(path.text, modes[i] | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == EWOULDBLOCK)
            break;
    }
    return fd < 0 ? -errno : fd;
}

int posix_lock_await_lease(const struct open_file *file)
{
    _cleanup_close_ int fd = open(proc_path_of(file->fd).text, O_RDWR | O_CLOEXEC);
    return fd < 0 ? -errno : 0;
}

/* Under inode_lock(). */
static struct lock_owner *find(const struct inode *inode, uint64_t id)
{
    struct lock_owner *owner = inode->owners;
    while (owner && owner->id != id)
        owner = owner->next;
    return owner;
}

static struct lock_owner *ref(struct lock_owner *owner)
{
    atomic_fetch_add_explicit(&owner->n_refs, 1, memory_order_relaxed);
    return owner;
}

struct lock_owner *posix_lock_known(struct fs *fs, struct inode *inode, uint64_t id)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    struct lock_owner *owner = find(inode, id);
    return owner ? ref(owner) : NULL;
}

/* Under inode_lock(). */
static int add_owner(fuse_req_t req, const struct open_file *file, uint64_t id,
                     struct lock_owner **ret_owner)
{
    struct fs *fs = fuse_req_userdata(req);
    struct inode *inode = file->inode;
    struct lock_owner *owner = calloc(1, sizeof(*owner));
    if (!owner || fs_take_descriptors(req, 1) < 0) {
        free(owner);
        return -ENOLCK;
    }
    int fd;
    do
        fd = open_for_locks(file);
    while ((fd == -EMFILE || fd == -ENFILE) && inode_table_shed(&fs->inodes));
    if (fd < 0) {
        fs_give_descriptors(req, 1);
        free(owner);
        return fd;
    }
    *owner = (struct lock_owner){.next = inode->owners,
                                 .id = id,
                                 .fd = fd,
                                 .uid = fuse_req_ctx(req)->uid,
                                 .room = &fs->inodes.descriptors,
                                 .n_refs = 1};
    *ret_owner = inode->owners = owner;
    return 0;
}

int posix_lock_owner(fuse_req_t req, struct open_file *file, uint64_t id, pid_t pid,
                     struct lock_owner **ret_owner)
{
    struct inode *inode = file->inode;
    struct fs *fs = fuse_req_userdata(req);
    LOCKED(inode_lock(&fs->inodes, inode));
    struct lock_owner *owner = find(inode, id);
    if (!owner) {
        int r = add_owner(req, file, id, &owner);
        if (r < 0)
            return r;
    }
    owner->file = file;
    if (pid) /* the kernel tells it with locks alone, not with unlocking */
        owner->pid = pid;
    *ret_owner = ref(owner);
    return 0;
}

pid_t posix_lock_other_pid(struct fs *fs, struct inode *inode, const struct lock_owner *owner)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    pid_t pid = 0;
    for (const struct lock_owner *other = inode->owners; other; other = other->next) {
        if (other == owner)
            continue;
        if (pid)
            return 0;
        pid = other->pid;
    }
    return pid;
}

static void drop(struct lock_owner **link)
{
    struct lock_owner *owner = *link;
    *link = owner->next;
    posix_lock_unref(owner);
}

void posix_lock_drop_owner(struct fs *fs, struct inode *inode, uint64_t id)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    for (struct lock_owner **link = &inode->owners; *link; link = &(*link)->next) {
        if ((*link)->id == id) {
            drop(link);
            return;
        }
    }
}

void posix_lock_drop_file(struct inode *inode, const struct open_file *file)
{
    for (struct lock_owner **link = &inode->owners; *link;) {
        if ((*link)->file == file)
            drop(link);
        else
            link = &(*link)->next;
    }
}

void posix_lock_drop_all(struct inode *inode)
{
    while (inode->owners)
        drop(&inode->owners);
}
