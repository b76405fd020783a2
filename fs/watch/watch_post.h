/* A thread that is handed batches, for work that may wait: so that the reader of events never does.
 */
#ifndef KINFS_FS_WATCH_WATCH_POST_H
#define KINFS_FS_WATCH_WATCH_POST_H

#include <pthread.h>
#include <stdbool.h>

#include "fs/watch/watch_batch.h"

/* Batches that wait, and what they have together: some hundred bytes each, and names of any length.
 * One may wait in any case. */
enum { WATCH_POST_ROOM = 64, WATCH_POST_SEEN_MAX = 4 * WATCH_BATCH_MAX };

struct watch_post {
    /* Work on a batch, or on what is left to do later (NULL). Returns in how many milliseconds to
     * be called with NULL, -1: not before there is a batch. */
    int (*work)(void *user, struct watch_batch *batch);
    void *user;
    atomic_llong busy_since_ms; /* the step of the work in hand, of clock_now_ms(); 0: none */
    atomic_bool ending;         /* do no further step */
    pthread_mutex_t lock;       /* of all below */
    pthread_cond_t pushed;      /* or ended: only one thread waits at a time */
    bool ended, working;
    struct watch_batch *waiting[WATCH_POST_ROOM];
    size_t n_waiting;
    bool started;
    pthread_t thread;
};

/* Returns 0 or -EAGAIN. */
int watch_post_start(struct watch_post *post, int (*work)(void *, struct watch_batch *),
                     void *user);
/* Give a batch, with a reference of its own. False, and nothing done, when there is no room. Never
 * blocks. */
bool watch_post_push(struct watch_post *post, struct watch_batch *batch);
/* Something waits that is not taken up yet; watch_post_clear() throws it away. */
bool watch_post_is_waiting(struct watch_post *post);
/* Nothing waits, and nothing is worked on: all that was given is done. */
bool watch_post_is_idle(struct watch_post *post);
void watch_post_clear(struct watch_post *post);
/* End the thread after the step in hand. False when it was not over within wait_ms (-1: no bound);
 * to be called again then. One that was not started allowed. */
bool watch_post_end(struct watch_post *post, int wait_ms);

/* Around each step that may wait. False: do no more. */
bool watch_post_step(struct watch_post *post);

#endif
