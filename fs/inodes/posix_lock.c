#include "fs/inodes/posix_lock.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "fs/callers/caller.h"
#include "fs/inodes/identity.h"

struct lock_owner {
    LIST_ENTRY(lock_owner) of_inode; /* under inode_lock(), as what follows */
    LIST_ENTRY(lock_owner) of_file;  /* through which it last locked */
    bool is_of_file;                 /* not: that was closed, and a wait by another goes on */
    unsigned n_waits;
    struct lock_owner *next; /* of those that were taken */
    uint64_t id;
    pid_t pid;
    int fd;
    uid_t payer; /* of who first locked by it: has it of this room */
    struct user_room *room;
    atomic_uint n_refs; /* the inode's list, and who waits for a lock */
};

void posix_lock_unref(struct lock_owner *owner)
{
    if (atomic_fetch_sub_explicit(&owner->n_refs, 1, memory_order_acq_rel) != 1)
        return;
    close(owner->fd); /* and with it go the locks */
    user_room_leave(owner->room, owner->payer, 1);
    free(owner);
}

int posix_lock_fd(const struct lock_owner *owner)
{
    return owner->fd;
}

/* The flags that a descriptor for locks is opened with. A lock for writing needs one for writing,
 * which the caller's file may not be now but another of its files later: both ways for who may
 * write. Who may not keeps nobody from executing the file, and breaks no lease of a reader. */
static int lock_flags(fuse_req_t req, const struct open_file *file)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    _cleanup_(caller_done) struct caller caller = {0};
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups;
    if (file->writes || !caller_is_restricted(ctx->uid))
        return O_RDWR;
    bool may_write = identity_get_groups(req, &groups, &n_groups) == 0 &&
                     caller_init(&caller, NULL, ctx->uid, ctx->gid, groups, n_groups) == 0 &&
                     caller_access(&caller, file->fd, "", W_OK) == 0;
    return may_write ? O_RDWR : O_RDONLY;
}

/* Less than is wanted where a file or its file system allows no more. Who holds a lease against
 * writers is not waited for here. */
static int open_for_locks(const struct open_file *file, int wanted)
{
    struct proc_path path = proc_path_of(file->fd);
    const int modes[] = {wanted, O_RDONLY, O_WRONLY};
    int fd = -1;
    for (size_t i = 0; fd < 0 && i < sizeof(modes) / sizeof(*modes); i++) {
        fd = open(path.text, modes[i] | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == EWOULDBLOCK)
            break;
    }
    return fd < 0 ? -errno : fd;
}

int posix_lock_await_lease(fuse_req_t req, const struct open_file *file)
{
    const int flags = lock_flags(req, file) | O_CLOEXEC;
    int r = identity_enter_judged(req, file->inode);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = open(proc_path_of(file->fd).text, flags);
    identity_leave();
    return fd < 0 ? -errno : 0;
}

static int compare(const void *a, const void *b)
{
    const struct lock_owner *const x = a, *const y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Under inode_lock(). */
static struct lock_owner *find(const struct inode *inode, uint64_t id)
{
    const struct lock_owner wanted = {.id = id};
    struct lock_owner **found = tfind(&wanted, &inode->owners_by_id, compare);
    return found ? *found : NULL;
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

/* On a file system that judges as who locks. */
static int open_as_asker(fuse_req_t req, const struct open_file *file)
{
    struct fs *fs = fuse_req_userdata(req);
    const int flags = lock_flags(req, file);
    int fd = identity_enter_judged(req, file->inode);
    if (fd < 0)
        return fd;
    do
        fd = open_for_locks(file, flags);
    while ((fd == -EMFILE || fd == -ENFILE) && inode_table_shed(&fs->inodes));
    identity_leave();
    return fd;
}

/* Not under inode_lock(): a file system that does not answer is waited for. */
static int new_owner(fuse_req_t req, const struct open_file *file, uint64_t id,
                     struct lock_owner **ret_owner)
{
    struct fs *fs = fuse_req_userdata(req);
    struct lock_owner *owner = calloc(1, sizeof(*owner));
    uid_t payer;
    if (!owner || fs_take_descriptors(req, 1, &payer) < 0) {
        free(owner);
        return -ENOLCK;
    }
    const int fd = open_as_asker(req, file);
    if (fd < 0) {
        user_room_leave(&fs->inodes.descriptors, payer, 1);
        free(owner);
        return fd;
    }
    *owner = (struct lock_owner){
        .id = id, .fd = fd, .payer = payer, .room = &fs->inodes.descriptors, .n_refs = 1};
    *ret_owner = owner;
    return 0;
}

static void leave_file(struct lock_owner *owner)
{
    if (owner->is_of_file)
        LIST_REMOVE(owner, of_file);
    owner->is_of_file = false;
}

static void move_to_file(struct lock_owner *owner, struct open_file *file)
{
    leave_file(owner);
    LIST_INSERT_HEAD(&file->lockers, owner, of_file);
    owner->is_of_file = true;
}

/* The owner, which is to lock through the file: the one in the list, or *made, which then is taken;
 * or NULL, without memory too. Gives a reference. */
static struct lock_owner *use_listed(struct fs *fs, struct open_file *file,
                                     const struct locker *locker, struct lock_owner **made)
{
    struct inode *inode = file->inode;
    LOCKED(inode_lock(&fs->inodes, inode));
    struct lock_owner *owner = find(inode, locker->id);
    if (!owner && *made && tsearch(*made, &inode->owners_by_id, compare)) {
        owner = TAKE_PTR(*made);
        LIST_INSERT_HEAD(&inode->owners, owner, of_inode);
    }
    if (!owner)
        return NULL;
    move_to_file(owner, file);
    owner->pid = locker->pid;
    owner->n_waits += locker->waits;
    return ref(owner);
}

int posix_lock_owner(fuse_req_t req, struct open_file *file, const struct locker *locker,
                     struct lock_owner **ret_owner)
{
    struct fs *fs = fuse_req_userdata(req);
    struct lock_owner *made = NULL;
    *ret_owner = use_listed(fs, file, locker, &made);
    if (*ret_owner)
        return 0;
    int r = new_owner(req, file, locker->id, &made);
    if (r < 0)
        return r;
    *ret_owner = use_listed(fs, file, locker, &made);
    if (made) /* another thread was faster, or there is no memory */
        posix_lock_unref(made);
    return *ret_owner ? 0 : -ENOLCK;
}

void posix_lock_waited(struct fs *fs, struct open_file *file, struct lock_owner *owner)
{
    {
        LOCKED(inode_lock(&fs->inodes, file->inode));
        owner->n_waits--;
        move_to_file(owner, file);
    }
    posix_lock_unref(owner);
}

pid_t posix_lock_other_pid(struct fs *fs, struct inode *inode, const struct lock_owner *owner)
{
    LOCKED(inode_lock(&fs->inodes, inode));
    pid_t pid = 0;
    const struct lock_owner *other;
    LIST_FOREACH(other, &inode->owners, of_inode)
    {
        if (other == owner)
            continue;
        if (pid)
            return 0;
        pid = other->pid;
    }
    return pid;
}

static struct lock_owner *take(struct inode *inode, struct lock_owner *owner)
{
    tdelete(owner, &inode->owners_by_id, compare);
    LIST_REMOVE(owner, of_inode);
    leave_file(owner);
    return owner;
}

void posix_lock_drop(struct lock_owner *taken)
{
    while (taken) {
        struct lock_owner *next = taken->next;
        posix_lock_unref(taken);
        taken = next;
    }
}

void posix_lock_drop_owner(struct fs *fs, struct inode *inode, uint64_t id)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    struct lock_owner *owner;
    bool is_awaited;
    {
        LOCKED(inode_lock(&fs->inodes, inode));
        owner = find(inode, id);
        if (!owner)
            return;
        is_awaited = owner->n_waits > 0;
        owner = is_awaited ? ref(owner) : take(inode, owner);
    }
    if (is_awaited) /* the lock waited for is held when it is granted after this */
        (void)fcntl(owner->fd, F_OFD_SETLK, &all);
    posix_lock_unref(owner);
}

/* The locks of an owner that waits are left: close(2) does not wait for this, and so they might be
 * some granted after it. */
struct lock_owner *posix_lock_take_file(struct open_file *file)
{
    struct lock_owner *taken = NULL, *owner;
    while ((owner = LIST_FIRST(&file->lockers))) {
        if (owner->n_waits) {
            leave_file(owner);
            continue;
        }
        owner = take(file->inode, owner);
        owner->next = taken;
        taken = owner;
    }
    return taken;
}
