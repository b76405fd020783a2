/* The kernel cannot be asked to wait for something or an interruption, whichever comes first. So
 * the thread waits for the thing alone, and a timer of its own breaks the wait every tenth of a
 * second to see whether there was an interruption: a grant is seen at once, Ctrl-C after 50 ms on
 * average, and there is no signal that could come a moment too early and be lost.
 */
#include "fs/inodes/waiter.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/inodes/user_room.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

enum { LOOK_UP_MS = 100, WAITER_STACK_BYTES = 256 * 1024 };

struct waiters {
    struct user_room room;
    pthread_mutex_t lock;
    pthread_cond_t none; /* n is 0 */
    unsigned n;
    atomic_bool is_ending;
};

static void ignore(int signal_number)
{
    (void)signal_number;
}

int waiters_new(struct waiters **ret_waiters)
{
    struct waiters *waiters = calloc(1, sizeof(*waiters));
    if (!waiters)
        return -ENOMEM;
    user_room_init(&waiters->room, WAITERS_MAX);
    pthread_mutex_init(&waiters->lock, NULL);
    pthread_cond_init(&waiters->none, NULL);
    /* Without SA_RESTART; by default this signal is ignored, so nobody else misses it. */
    struct sigaction action = {.sa_handler = ignore};
    sigaction(SIGURG, &action, NULL);
    *ret_waiters = waiters;
    return 0;
}

void waiters_end(struct waiters *waiters)
{
    atomic_store(&waiters->is_ending, true);
    LOCKED(&waiters->lock);
    while (waiters->n)
        pthread_cond_wait(&waiters->none, &waiters->lock);
}

void waiters_free(struct waiters *waiters)
{
    if (!waiters)
        return;
    pthread_cond_destroy(&waiters->none);
    pthread_mutex_destroy(&waiters->lock);
    user_room_done(&waiters->room);
    free(waiters);
}

static int enter(struct waiters *waiters, uid_t uid)
{
    if (!user_room_enter(&waiters->room, uid, 1))
        return -EAGAIN;
    LOCKED(&waiters->lock);
    waiters->n++;
    return 0;
}

static void leave(struct waiters *waiters, uid_t uid)
{
    user_room_leave(&waiters->room, uid, 1);
    LOCKED(&waiters->lock);
    if (--waiters->n == 0)
        pthread_cond_broadcast(&waiters->none);
}

static int call(struct waiter *waiter)
{
    for (;;) {
        int r = waiter->call(waiter);
        if (r != -EINTR || fuse_req_interrupted(waiter->req))
            return r;
        /* As the kernel tells all others then. Of EINTR without a signal it makes ERESTARTSYS, an
         * errno no program knows. */
        if (atomic_load(&waiter->waiters->is_ending))
            return -ECONNABORTED;
    }
}

static void *run(void *user)
{
    struct waiter *waiter = user;
    struct waiters *waiters = waiter->waiters;
    uid_t uid = waiter->uid;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGURG};
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    pthread_sigmask(SIG_UNBLOCK, &urgent, NULL);

    int r = -EAGAIN;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) {
        struct timespec tick = {.tv_nsec = LOOK_UP_MS * 1000 * 1000};
        struct itimerspec ticks = {.it_interval = tick, .it_value = tick};
        timer_settime(timer, 0, &ticks, NULL);
        r = call(waiter);
        timer_delete(timer);
    }
    waiter->answer(waiter, r);
    leave(waiters, uid);
    return NULL;
}

static int start(struct waiter *waiter)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WAITER_STACK_BYTES);
    int r = pthread_create(&thread, &attributes, run, waiter);
    pthread_attr_destroy(&attributes);
    return r ? -EAGAIN : 0;
}

int waiter_start(struct waiters *waiters, struct waiter *waiter)
{
    const struct fuse_ctx *asker = fuse_req_ctx(waiter->req);
    uid_t uid = user_room_payer(&waiters->room, asker->uid, asker->pid);
    waiter->waiters = waiters;
    waiter->uid = uid;
    int r = enter(waiters, uid);
    if (r < 0)
        return r;
    r = start(waiter);
    if (r < 0)
        leave(waiters, uid);
    return r;
}
