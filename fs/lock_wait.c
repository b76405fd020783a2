/* The kernel cannot be asked to wait for a lock or an interruption, whichever comes first. So the
 * thread waits for the lock alone, and a timer of its own breaks the wait every tenth of a second
 * to see whether there was an interruption: a grant is seen at once, Ctrl-C after 50 ms on average,
 * and there is no signal that could come a moment too early and be lost.
 */
#include "fs/lock_wait.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { LOOK_UP_MS = 100, WAITER_STACK_BYTES = 64 * 1024 };

struct lock_waiters {
    pthread_mutex_t lock;
    pthread_cond_t none; /* n is 0 */
    unsigned n;
    atomic_bool is_ending;
};

struct lock_waiter {
    struct lock_waiters *waiters;
    fuse_req_t req;
    struct open_file *file;
    struct lock_owner *owner;
    struct flock lock;
    int flock_op;
};

static void ignore(int signal_number)
{
    (void)signal_number;
}

int lock_waiters_new(struct lock_waiters **ret_waiters)
{
    struct lock_waiters *waiters = calloc(1, sizeof(*waiters));
    if (!waiters)
        return -ENOMEM;
    pthread_mutex_init(&waiters->lock, NULL);
    pthread_cond_init(&waiters->none, NULL);
    /* Without SA_RESTART; by default this signal is ignored, so nobody else misses it. */
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGURG, &action, NULL);
    *ret_waiters = waiters;
    return 0;
}

void lock_waiters_end(struct lock_waiters *waiters)
{
    atomic_store(&waiters->is_ending, true);
    LOCKED(&waiters->lock);
    while (waiters->n)
        pthread_cond_wait(&waiters->none, &waiters->lock);
}

void lock_waiters_free(struct lock_waiters *waiters)
{
    if (!waiters)
        return;
    pthread_cond_destroy(&waiters->none);
    pthread_mutex_destroy(&waiters->lock);
    free(waiters);
}

static void leave(struct lock_waiters *waiters)
{
    LOCKED(&waiters->lock);
    if (--waiters->n == 0)
        pthread_cond_broadcast(&waiters->none);
}

static int take_lock(struct lock_waiter *waiter)
{
    for (;;) {
        int r = waiter->owner ? fcntl(posix_lock_fd(waiter->owner), F_OFD_SETLKW, &waiter->lock)
                              : flock(waiter->file->fd, waiter->flock_op);
        if (r == 0)
            return 0;
        if (errno != EINTR)
            return -errno;
        if (fuse_req_interrupted(waiter->req))
            return -EINTR;
        /* As the kernel tells all others then. Of EINTR without a signal it makes ERESTARTSYS, an
         * errno no program knows. */
        if (atomic_load(&waiter->waiters->is_ending))
            return -ECONNABORTED;
    }
}

static void *wait_for_lock(void *user)
{
    struct lock_waiter *waiter = user;
    struct lock_waiters *waiters = waiter->waiters;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);

    int r = -ENOLCK;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
        struct timespec tick = {.tv_nsec = LOOK_UP_MS * 1000 * 1000};
        struct itimerspec ticks = {.it_interval = tick, .it_value = tick};
        timer_settime(timer, 0, &ticks, NULL);
        r = take_lock(waiter);
        timer_delete(timer);
    }
    fuse_reply_err(waiter->req, -r);
    if (waiter->owner)
        posix_lock_unref(waiter->owner);
    open_file_unref(waiter->file);
    free(waiter);
    leave(waiters);
    return NULL;
}

static int start(struct lock_waiter *waiter)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WAITER_STACK_BYTES);
    int r = pthread_create(&thread, &attributes, wait_for_lock, waiter);
    pthread_attr_destroy(&attributes);
    return -r;
}

void lock_wait(fuse_req_t req, struct open_file *file, struct lock_owner *owner,
               const struct flock *lock, int flock_op)
{
    struct lock_waiters *waiters = fs_of(req)->lock_waiters;
    struct lock_waiter *waiter = calloc(1, sizeof(*waiter));
    if (waiter) {
        *waiter = (struct lock_waiter){
            .waiters = waiters, .req = req, .file = file, .owner = owner, .flock_op = flock_op};
        if (lock)
            waiter->lock = *lock;
        {
            LOCKED(&waiters->lock);
            waiters->n++;
        }
        if (start(waiter) == 0)
            return;
        leave(waiters);
        free(waiter);
    }
    if (owner)
        posix_lock_unref(owner);
    open_file_unref(file);
    fuse_reply_err(req, ENOLCK);
}
