/* A few threads for requests that may wait, with a bounded queue: every task pushed is run exactly
 * once, or told why it is not. Turns go round by user, so that none waits for all that another
 * asks.
 *
 * Threads: any, unless it is said which; defer_new() comes before, and defer_free() after all
 * others.
 */
#ifndef KINFS_FS_VIEWS_DEFER_H
#define KINFS_FS_VIEWS_DEFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct defer;

struct defer_options {
    /* 1 or more. A user who has as many as are free begins no other: the first one has half of
     * them, rounded up, the next half of the rest. */
    unsigned n_threads;
    unsigned n_long_max;  /* threads with long tasks, shared out likewise */
    size_t n_waiting_max; /* tasks queued, those being run not counted */
    /* Do the task (error 0), or answer it without (-EINTR: given up, and there is no thread for it,
     * -EAGAIN: others want its place in a full queue, -ESHUTDOWN: the end). Owns the task. Called
     * without a lock, by a thread of the pool, or by that of defer_push(), defer_reap() or
     * defer_free(). */
    void (*run)(void *task, int error);
    /* True: nobody waits for the task any more, or nobody may; NULL: never. Called with the queue's
     * lock. */
    bool (*given_up)(void *task);
    uid_t (*user_of)(void *task); /* NULL: all are one user's */
    bool (*is_long)(void *task);  /* it may take minutes; NULL: none is */
    int64_t (*now_us)(void);      /* NULL: clock_now_us(); called with the queue's lock */
};

/* Returns 0, -ENOMEM, or -EAGAIN when no thread can be had; gives. The threads block all signals:
 * those are for the program's own. */
int defer_new(const struct defer_options *options, struct defer **ret_defer);

/* Waits for what runs, then answers what is queued with -ESHUTDOWN. NULL allowed. */
void defer_free(struct defer *defer);
DEFINE_CLEANUP(struct defer *, defer_free);

/* Behind what waits of the same user. Any thread; never blocks; at most some steps for each task in
 * the queue. In a full queue a user who has fewer tasks than another takes the place of that one's
 * newest, which is answered with -EAGAIN.
 *
 * Returns 0 (takes the task), -EAGAIN when the queue is full, -ESHUTDOWN. */
int defer_push(struct defer *defer, void *task);

/* Answer those queued that were given up, and cannot be begun. For tasks to call now and then while
 * they wait, since then maybe no thread is left to take from the queue; one that is left does so
 * itself. */
void defer_reap(struct defer *defer);

/* True: defer_free() was called, and a task that waits should end. */
bool defer_is_ending(struct defer *defer);

#endif
