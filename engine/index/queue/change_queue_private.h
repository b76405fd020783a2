/* Things that change_queue.c, change_queue_hold.c, change_queue_lanes.c, change_queue_shares.c and
 * change_queue_turns.c share.
 *
 * A hash table finds the item of a thing; two linked lists order the items: `ready` (by lane, kind
 * and owner, what can be taken) and `outstanding` (by lane, in ticket order, queued or in work).
 * The head of `outstanding` is the oldest unsettled change, so settling is one comparison. */
#ifndef KINFS_ENGINE_INDEX_QUEUE_CHANGE_QUEUE_PRIVATE_H
#define KINFS_ENGINE_INDEX_QUEUE_CHANGE_QUEUE_PRIVATE_H

#include <sys/queue.h>

#include "base/cleanup.h"
#include "engine/index/queue/change_queue.h"

TAILQ_HEAD(item_list, item);
SLIST_HEAD(item_bucket, item);
TAILQ_HEAD(share_list, share);
LIST_HEAD(share_bucket, share);

/* CHANGE_ENTRY and CHANGE_CONTENT, where they were not passed on. */
enum { N_PLAIN_KINDS = CHANGE_SLOW_CONTENT };

/* The items of one owner in the foreground. There are no more shares than items there. */
struct share {
    uid_t owner;
    unsigned n_names;         /* taken so far */
    size_t n_items;           /* in work included */
    struct item_list waiting; /* those that are not in work, the oldest first */
    struct item_list ready[N_PLAIN_KINDS];
    TAILQ_ENTRY(share) next[N_PLAIN_KINDS]; /* of those with something ready */
    LIST_ENTRY(share) of_bucket, as_many;
};

/* The items of one owner of a kind that is taken in turns. */
struct turn {
    TAILQ_ENTRY(turn) next;
    struct turns *all;
    uid_t owner;
    unsigned n_items[LANE_N], n_in_work;
    unsigned n_at_scan; /* a scan is wanted when no more are in the scan lane */
    bool is_missing;    /* some were dropped since a scan was last wanted */
    struct item_list ready[LANE_N];
};

TAILQ_HEAD(turn_list, turn);

/* Turns of one kind of changes; its items are not in `ready`. */
struct turns {
    struct turn_list list; /* who had one least recently first */
    struct turn root;      /* one that is always among them */
    unsigned n;            /* owners in `list` */
    unsigned max_in_work;  /* of one owner at a time */
};

struct item {
    struct change change; /* first: what the caller holds is the item; its lane, n_wholes and
                             whether it is unknown or written are set when it is taken */
    enum change_lane lane;
    char *name;
    struct turn *turn;                  /* it is taken in turns; else NULL */
    struct share *share;                /* of the foreground; else NULL */
    uint64_t hash, ticket, next_ticket; /* the next one: once it is done, when it is noted again */
    unsigned n_wholes;
    bool in_work, again, is_unknown, is_written, has_turn;
    TAILQ_ENTRY(item) ready, waiting, outstanding;
    SLIST_ENTRY(item) bucket;
};

struct change_queue {
    pthread_mutex_t lock;                          /* a leaf: nothing else is taken under it */
    pthread_cond_t noted[CHANGE_N_KINDS], settled; /* who takes one kind is not woken for another */
    struct item_list ready[N_PLAIN_KINDS];         /* of the scan lane */
    struct share_list plain[N_PLAIN_KINDS]; /* of the foreground; whose turn it is comes first */
    struct item_list outstanding[LANE_N];
    struct item *moved_last[LANE_N]; /* of the outstanding: where places are looked for, or NULL */
    size_t n_outstanding[LANE_N], n_contents[LANE_N], n_slow[LANE_N], max_changes[LANE_N];
    struct turns slow,
        below;       /* of CHANGE_SLOW_CONTENT; of CHANGE_BELOW and passed on CHANGE_ENTRY */
    size_t max_slow; /* contents in the scan lane */
    bool wants_scan; /* for what was dropped: there is room again */
    struct share_bucket *shares, *as_many; /* by owner; by the number of items */
    size_t n_shares;                       /* buckets of them, a power of two */
    size_t n_most;                         /* items of who has most */
    uint64_t next_ticket;
    uint64_t seed; /* of the hash of names, which others choose */
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

/* -- under the lock (change_queue_lanes.c) -- */

/* An item that is in no lane gets its place in one, by its ticket. whole: of one that is a part,
 * or NULL. */
void change_queue_enter_lane(struct change_queue *queue, struct item *item, enum change_lane lane,
                             struct item *whole);
void change_queue_leave_lane(struct change_queue *queue, struct item *item);
/* An item can be taken from now on, after those that could before; or cannot any more. */
void change_queue_make_ready(struct change_queue *queue, struct item *item);
void change_queue_end_ready(struct change_queue *queue, struct item *item);

/* -- under the lock (change_queue_turns.c) -- */

void change_queue_turns_init(struct turns *turns);
/* An item has come to its lane, or goes from it; nothing where it is in no turn. */
void change_queue_count_slow(struct change_queue *queue, const struct item *item);
void change_queue_uncount_slow(struct change_queue *queue, const struct item *item);
/* The owner of slow content has room for it, or for one more, in the foreground. */
bool change_queue_has_room_ahead(struct change_queue *queue, const struct item *item,
                                 unsigned n_more);
/* Slow content of the scan lane is within its owner's share. Where it is not it is to be dropped: a
 * scan will be wanted. */
bool change_queue_is_within_share(struct change_queue *queue, const struct item *item);
/* An item that is not in work and in no list of what is ready. */
void change_queue_join_turns(struct change_queue *queue, struct turns *turns, struct item *item,
                             uid_t owner);
/* The same, or one in work; nothing where it never joined. */
void change_queue_leave_turns(struct change_queue *queue, struct item *item);
/* The item to be taken next, or NULL; from now on its owner has one more in work. */
struct item *change_queue_next_turn(struct change_queue *queue, struct turns *turns);
/* It is not in work any more, but remains its owner's. */
void change_queue_end_turn_of(struct item *item);

static inline struct turns *change_queue_turns_of(struct change_queue *queue, enum change_kind kind)
{
    return kind == CHANGE_SLOW_CONTENT ? &queue->slow : kind == CHANGE_BELOW ? &queue->below : NULL;
}

static inline enum change_kind change_queue_taken_as(const struct item *item)
{
    return !item->turn                           ? item->change.kind
           : item->change.kind == CHANGE_CONTENT ? CHANGE_SLOW_CONTENT
                                                 : CHANGE_BELOW;
}

/* -- under the lock (change_queue_shares.c) -- */

int change_queue_shares_new(struct change_queue *queue);
void change_queue_shares_free(struct change_queue *queue); /* once all items have left */
/* The share of an owner, to be joined or else given back; NULL: no memory. */
struct share *change_queue_share_of(struct change_queue *queue, uid_t owner);
void change_queue_return_share(struct share *share);
/* The item that is to be dropped where there is no room for one more of a share; NULL: none, as
 * nobody has many more. */
struct item *change_queue_to_drop(struct change_queue *queue, const struct share *share);
/* An item that is in no list of what is ready. */
void change_queue_join_share(struct change_queue *queue, struct share *share, struct item *item);
/* The same; nothing where it never joined. */
void change_queue_leave_share(struct change_queue *queue, struct item *item);
/* It is ready, or not any more, as the lists have it already. Nothing of the scan lane. */
void change_queue_begin_waiting(struct change_queue *queue, struct item *item);
void change_queue_end_waiting(struct change_queue *queue, struct item *item);
/* The item of the foreground that is to be taken next, or NULL. */
struct item *change_queue_next_plain(struct change_queue *queue, enum change_kind kind);

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
