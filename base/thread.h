/* Threads of the daemon's own, and the conditions they wait for. */
#ifndef KINFS_BASE_THREAD_H
#define KINFS_BASE_THREAD_H

#include <pthread.h>
#include <signal.h>

/* A thread that takes no signals. Returns 0, or -EAGAIN when there is none to be had. */
static inline int thread_start(pthread_t *ret_thread, void *(*run)(void *), void *user)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int r = -pthread_create(ret_thread, NULL, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r;
}

/* A condition whose bounded waits end at a deadline of base/deadline.h. */
static inline void thread_cond_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

#endif
