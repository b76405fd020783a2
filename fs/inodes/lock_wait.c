#include "fs/inodes/lock_wait.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/file.h>

#include "fs/inodes/waiter.h"

struct lock_waiter {
    struct waiter waiter;
    struct lock_wanted wanted;
    struct lock_owner *owner; /* NULL: not yet, or a lease keeps it from being made */
};

static int find_owner(struct lock_waiter *waiter)
{
    struct lock_wanted *wanted = &waiter->wanted;
    int r = 0;
    while (r == 0 && !waiter->owner) {
        r = posix_lock_owner(waiter->waiter.req, wanted->file, &wanted->locker, &waiter->owner);
        if (r == -EWOULDBLOCK)
            r = posix_lock_await_lease(waiter->waiter.req, wanted->file);
    }
    return r;
}

static int take_lock(struct waiter *user)
{
    struct lock_waiter *waiter = (struct lock_waiter *)user;
    struct lock_wanted *wanted = &waiter->wanted;
    if (wanted->flock_op)
        return flock(wanted->file->fd, wanted->flock_op) < 0 ? -errno : 0;
    int r = find_owner(waiter);
    if (r < 0)
        return r;
    return fcntl(posix_lock_fd(waiter->owner), F_OFD_SETLKW, &wanted->lock) < 0 ? -errno : 0;
}

static void answer(struct waiter *user, int r)
{
    struct lock_waiter *waiter = (struct lock_waiter *)user;
    if (waiter->owner) /* before its process can close the file */
        posix_lock_waited(fs_of(user->req), waiter->wanted.file, waiter->owner);
    fuse_reply_err(user->req, r == -EAGAIN ? ENOLCK : -r);
    open_file_unref(waiter->wanted.file);
    free(waiter);
}

void lock_wait(fuse_req_t req, const struct lock_wanted *wanted)
{
    struct lock_waiter *waiter = malloc(sizeof(*waiter));
    if (waiter) {
        *waiter = (struct lock_waiter){.waiter = {.req = req, .call = take_lock, .answer = answer},
                                       .wanted = *wanted};
        int r = waiter_start(fs_of(req)->waiters, &waiter->waiter);
        if (r < 0)
            answer(&waiter->waiter, r);
        return;
    }
    open_file_unref(wanted->file);
    fuse_reply_err(req, ENOLCK);
}
