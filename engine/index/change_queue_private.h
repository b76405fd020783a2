/* What change_queue.c and change_queue_hold.c share.
 *
 * A hash table finds the item of a thing; two linked lists order the items: `ready` (by lane and
 * kind, what can be taken) and `outstanding` (by lane, in ticket order, queued or in work). The
 * head of `outstanding` is the oldest unsettled change, so settling is one comparison. */
#ifndef KINFS_ENGINE_INDEX_CHANGE_QUEUE_PRIVATE_H
#define KINFS_ENGINE_INDEX_CHANGE_QUEUE_PRIVATE_H

#include <sys/queue.h>

#include "base/cleanup.h"
#include "engine/index/change_queue.h"

struct item {
    struct change change; /* first: what the caller holds is the item; its lane and whether it is
                             unknown are set when it is taken */
    enum change_lane lane;
    char *name;
    uint64_t hash, ticket;
    bool in_work, again, slow, is_unknown;
    TAILQ_ENTRY(item) ready, outstanding;
    SLIST_ENTRY(item) bucket;
};

TAILQ_HEAD(item_list, item);
SLIST_HEAD(item_bucket, item);

struct change_queue {
    pthread_mutex_t lock;                          /* a leaf: nothing else is taken under it */
    pthread_cond_t noted[CHANGE_N_KINDS], settled; /* who takes one kind is not woken for another */
    struct item_list ready[LANE_N][CHANGE_N_KINDS], outstanding[LANE_N];
    struct item *moved_last[LANE_N]; /* of the outstanding: where places are looked for, or NULL */
    size_t n_outstanding[LANE_N], max_changes[LANE_N];
    uint64_t next_ticket;
    struct item_bucket *buckets;
    size_t n_buckets; /* a power of two */
    bool shut_down;
    bool holds, held;   /* change_queue_hold(); the foreground is held back now */
    bool asked;         /* for, or too much, since all of it was done: it is not held back again */
    unsigned n_waiting; /* in change_queue_settle(): nothing is held back meanwhile */
    uint64_t n_notes;   /* of the foreground */
    void (*wake)(void *user);
    void *wake_user;
};

static inline bool change_queue_is_held(const struct change_queue *queue, enum change_lane lane)
{
    return lane == LANE_FOREGROUND && queue->held;
}

/* -- under the lock (change_queue_hold.c) -- */

/* When nothing of the foreground is outstanding it is held back from now on, where it should be. */
void change_queue_hold_if_done(struct change_queue *queue);
/* After a note in a lane. Returns whether there is something for change_queue_on_work() to tell,
 * once the lock is free; the first change that is held back is work too: somebody has to see to it
 * that it is released. */
bool change_queue_look_after_holding(struct change_queue *queue, enum change_lane lane);

/* -- without it -- */

void change_queue_tell_work(struct change_queue *queue, bool wanted);

#endif
