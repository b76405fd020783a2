/* A few threads for requests that may wait, with a bounded queue: every task pushed is run exactly
 * once, in order, or told why it is not.
 */
#ifndef KINFS_FS_DEFER_H
#define KINFS_FS_DEFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

struct defer;

struct defer_options {
    unsigned n_threads;   /* 1 or more */
    size_t n_waiting_max; /* tasks queued, those being run not counted */
    /* Do the task (error 0), or answer it without (-EINTR: given up, and there is no thread for it,
     * -ESHUTDOWN: the end). Owns the task. Called without a lock, by a thread of the pool or by
     * that of defer_free(). */
    void (*run)(void *task, int error);
    /* Whether nobody waits for the task any more; NULL: never. Called with the queue's lock. */
    bool (*given_up)(void *task);
};

/* Returns 0, -ENOMEM, or -EAGAIN when no thread can be had; gives. The threads block all signals:
 * those are for the program's own. */
int defer_new(const struct defer_options *options, struct defer **ret_defer);

/* Waits for what runs, then answers what is queued with -ESHUTDOWN. NULL allowed. */
void defer_free(struct defer *defer);
DEFINE_CLEANUP(struct defer *, defer_free);

/* Returns 0 (takes the task), -EAGAIN when the queue is full, -ESHUTDOWN. Never blocks. */
int defer_push(struct defer *defer, void *task);

/* From within run(), of its own task: have it run once more, after those that wait now, for which
 * there is always room. Returns 0 (takes the task), -ESHUTDOWN. Never blocks. */
int defer_again(struct defer *defer, void *task);

/* Answer those queued that were given up. For tasks to call now and then while they wait, since
 * then maybe no thread is left to take from the queue. */
void defer_reap(struct defer *defer);

/* Whether defer_free() was called: a task that waits should end. */
bool defer_is_ending(struct defer *defer);

#endif
