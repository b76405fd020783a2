/* The queue as a whole: a thing is found by a hash of its name, and noted once; it is taken, worked
 * on, and done, put back or passed on to others.
 *
 * Example: a file is written twice, and a worker takes it in between. The first note makes an item
 * with ticket 7. The second one finds the item in work, with ticket 9 for once it is done: who
 * waits for 7 is free when the worker is, and the item is ready again, as one of ticket 9.
 *
 * Cost: some steps under the one lock, whoever does what; a name is copied. Left out: a lock for
 * each lane: a change moves from one to the other, and who settles asks both. */
#include "engine/index/queue/change_queue_private.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/thread.h"

int change_queue_new(const size_t max_changes[LANE_N], struct change_queue **ret_queue)
{
    size_t n_buckets = 1024, n_max = max_changes[LANE_FOREGROUND] + max_changes[LANE_SCAN];
    if (!max_changes[LANE_FOREGROUND] || !max_changes[LANE_SCAN])
        return -EINVAL;
    while (n_buckets < n_max)
        n_buckets *= 2;

    struct change_queue *queue = calloc(1, sizeof(*queue));
    struct item_bucket *buckets = calloc(n_buckets, sizeof(*buckets));
    if (queue)
        memcpy(queue->max_changes, max_changes, sizeof(queue->max_changes));
    if (!queue || !buckets || getrandom(&queue->seed, sizeof(queue->seed), 0) < 0 ||
        change_queue_shares_new(queue) < 0) {
        free(queue);
        free(buckets);
        return -ENOMEM;
    }
    queue->buckets = buckets;
    queue->n_buckets = n_buckets;
    for (int lane = 0; lane < LANE_N; lane++)
        TAILQ_INIT(&queue->outstanding[lane]);
    for (int kind = 0; kind < N_PLAIN_KINDS; kind++)
        TAILQ_INIT(&queue->ready[kind]);
    change_queue_turns_init(&queue->slow);
    change_queue_turns_init(&queue->below);
    queue->max_slow = SIZE_MAX;
    pthread_mutex_init(&queue->lock, NULL);
    for (int kind = 0; kind < CHANGE_N_KINDS; kind++)
        pthread_cond_init(&queue->noted[kind], NULL);
    thread_cond_init(&queue->settled);
    *ret_queue = queue;
    return 0;
}

static void item_free(struct item *item)
{
    free(item->name);
    free(item);
}

void change_queue_free(struct change_queue *queue)
{
    if (!queue)
        return;
    for (int lane = 0; lane < LANE_N; lane++) {
        struct item *item;
        while ((item = TAILQ_FIRST(&queue->outstanding[lane]))) {
            TAILQ_REMOVE(&queue->outstanding[lane], item, outstanding);
            change_queue_leave_turns(queue, item);
            change_queue_leave_share(queue, item);
            item_free(item);
        }
    }
    change_queue_shares_free(queue);
    pthread_cond_destroy(&queue->settled);
    for (int kind = 0; kind < CHANGE_N_KINDS; kind++)
        pthread_cond_destroy(&queue->noted[kind]);
    pthread_mutex_destroy(&queue->lock);
    free(queue->buckets);
    free(queue);
}

void change_queue_on_work(struct change_queue *queue, void (*wake)(void *user), void *user)
{
    queue->wake = wake;
    queue->wake_user = user;
}

/* By a secret: names that somebody chooses to be alike would have everybody who changes something
 * wait for the lock. */
static uint64_t hash_change(const struct change_queue *queue, enum change_kind kind,
                            const struct file_key *key, const char *name)
{
    const uint64_t of_file = file_key_hash(key) + kind;
    return name ? of_file ^ XXH3_64bits_withSeed(name, strlen(name), queue->seed) : of_file;
}

static struct item_bucket *bucket_of(struct change_queue *queue, uint64_t hash)
{
    return &queue->buckets[hash & (queue->n_buckets - 1)];
}

static struct item *find(struct change_queue *queue, uint64_t hash, enum change_kind kind,
                         const struct file_key *key, const char *name)
{
    struct item *item;
    SLIST_FOREACH(item, bucket_of(queue, hash), bucket)
    {
        if (item->hash == hash && item->change.kind == kind &&
            file_key_equal(&item->change.key, key) && (!name || strcmp(item->name, name) == 0))
            return item;
    }
    return NULL;
}

static void drop(struct change_queue *queue, struct item *item)
{
    change_queue_leave_turns(queue, item);
    change_queue_leave_share(queue, item);
    SLIST_REMOVE(bucket_of(queue, item->hash), item, item, bucket);
    change_queue_leave_lane(queue, item);
    item_free(item);
}

/* A place in the foreground: the share of its owner, to be joined. What is dropped for it is found
 * by a scan. */
static int find_place(struct change_queue *queue, uid_t owner, struct share **ret_share)
{
    struct share *share = change_queue_share_of(queue, owner);
    if (!share)
        return -ENOMEM;
    if (queue->n_outstanding[LANE_FOREGROUND] >= queue->max_changes[LANE_FOREGROUND]) {
        struct item *most = change_queue_to_drop(queue, share);
        if (!most) {
            change_queue_return_share(share);
            return -ENOBUFS;
        }
        change_queue_end_ready(queue, most);
        drop(queue, most);
        queue->wants_scan = true;
    }
    *ret_share = share;
    return 0;
}

/* A thing that is noted while it is worked on is another change: who waits from now on waits until
 * it is done once more, and who waited before does not. So a thing that changes without end keeps
 * nobody. */
static void note_in_work(struct change_queue *queue, struct item *item, const struct item *whole)
{
    const uint64_t ticket = whole ? whole->ticket : queue->next_ticket++;
    if (!item->again || ticket < item->next_ticket)
        item->next_ticket = ticket;
    item->again = true;
}

/* A known change is noted again, perhaps in a lane ahead of its own, or as a part of an older one:
 * who waits for that one waits for both. A long one stays where it is, and one of an owner who has
 * enough ahead: nobody waits for it. */
static void note_again(struct change_queue *queue, struct item *item, enum change_lane lane,
                       uid_t owner, struct item *whole)
{
    struct share *share = NULL;
    bool ahead = lane < item->lane && !item->change.is_long &&
                 change_queue_has_room_ahead(queue, item, 1) &&
                 find_place(queue, owner, &share) == 0,
         older = whole && whole->ticket < item->ticket;
    if (item->in_work)
        note_in_work(queue, item, whole);
    if (whole && item->n_wholes <= whole->n_wholes)
        item->n_wholes = whole->n_wholes + 1;
    if (!ahead && !older)
        return;
    if (!ahead)
        lane = item->lane;
    if (ahead && !item->in_work)
        change_queue_end_ready(queue, item);
    change_queue_leave_lane(queue, item);
    if (ahead)
        change_queue_join_share(queue, share, item);
    if (older)
        item->ticket = whole->ticket;
    change_queue_enter_lane(queue, item, lane, whole);
    if (ahead && !item->in_work)
        change_queue_make_ready(queue, item);
}

enum content_known { CONTENT_MAYBE_KNOWN, CONTENT_UNKNOWN, CONTENT_WRITTEN };

static int note_locked(struct change_queue *queue, enum change_lane lane, enum change_kind kind,
                       const struct file_key *key, const char *name, uid_t owner,
                       enum content_known known, struct item *whole)
{
    if (queue->shut_down)
        return -ESHUTDOWN;
    uint64_t hash = hash_change(queue, kind, key, name);
    struct item *item = find(queue, hash, kind, key, name);
    if (item) {
        item->is_unknown &= known == CONTENT_UNKNOWN;
        item->is_written |= known == CONTENT_WRITTEN;
        note_again(queue, item, lane, owner, whole);
        return 0;
    }
    if (lane == LANE_SCAN && queue->n_outstanding[lane] >= queue->max_changes[lane])
        return -ENOBUFS;
    item = calloc(1, sizeof(*item));
    if (!item || (name && !(item->name = strdup(name)))) {
        free(item);
        return -ENOMEM;
    }
    struct share *share = NULL;
    int r = lane == LANE_FOREGROUND ? find_place(queue, owner, &share) : 0;
    if (r < 0) {
        item_free(item);
        return r;
    }
    item->change.kind = kind;
    item->change.key = *key;
    item->change.name = item->name;
    item->change.owner = owner;
    if (whole) {
        item->n_wholes = whole->n_wholes + 1;
        item->change.n_tries =
            whole->change.n_tries + (kind == CHANGE_ENTRY && whole->change.kind == CHANGE_CONTENT);
    }
    item->hash = hash;
    item->is_unknown = known == CONTENT_UNKNOWN;
    item->is_written = known == CONTENT_WRITTEN;
    SLIST_INSERT_HEAD(bucket_of(queue, hash), item, bucket);
    item->ticket = whole ? whole->ticket : queue->next_ticket++;
    change_queue_enter_lane(queue, item, lane, whole);
    if (share)
        change_queue_join_share(queue, share, item);
    if (kind == CHANGE_BELOW)
        change_queue_join_turns(queue, &queue->below, item, owner);
    change_queue_make_ready(queue, item);
    return 1;
}

static int note(struct change_queue *queue, enum change_lane lane, enum change_kind kind,
                const struct file_key *key, const char *name, uid_t owner, enum content_known known,
                const struct change *whole)
{
    assert((kind == CHANGE_ENTRY) == (name != NULL));
    bool work;
    int r;
    {
        LOCKED(&queue->lock);
        const bool wanted_scan = queue->wants_scan;
        r = note_locked(queue, lane, kind, key, name, owner, known, (struct item *)whole);
        work = (r == 1 && kind == CHANGE_ENTRY && !change_queue_is_held(queue, lane)) ||
               (queue->wants_scan && !wanted_scan);
        if (r >= 0)
            work |= change_queue_look_after_holding(queue, lane);
    }
    change_queue_tell_work(queue, work);
    return r;
}

int change_queue_note(struct change_queue *queue, enum change_lane lane, enum change_kind kind,
                      const struct file_key *key, const char *name, uid_t owner,
                      const struct change *whole)
{
    assert(kind != CHANGE_BELOW);
    return note(queue, lane, kind, key, name, owner, CONTENT_MAYBE_KNOWN, whole);
}

int change_queue_note_unknown(struct change_queue *queue, enum change_lane lane,
                              const struct file_key *key, uid_t owner, const struct change *whole)
{
    return note(queue, lane, CHANGE_CONTENT, key, NULL, owner, CONTENT_UNKNOWN, whole);
}

int change_queue_note_written(struct change_queue *queue, enum change_kind kind,
                              const struct file_key *key, const char *name, uid_t owner,
                              const struct change *whole)
{
    assert(kind != CHANGE_BELOW);
    return note(queue, LANE_FOREGROUND, kind, key, name, owner, CONTENT_WRITTEN, whole);
}

int change_queue_note_below(struct change_queue *queue, const struct file_key *directory,
                            uid_t owner, const struct change *whole)
{
    return note(queue, LANE_FOREGROUND, CHANGE_BELOW, directory, NULL, owner, CONTENT_MAYBE_KNOWN,
                whole);
}

static struct item *first_ready(struct change_queue *queue, enum change_kind kind,
                                enum change_lane from)
{
    const bool is_held = change_queue_is_held(queue, LANE_FOREGROUND);
    struct item *item =
        from == LANE_FOREGROUND && !is_held ? change_queue_next_plain(queue, kind) : NULL;
    return item ? item : TAILQ_FIRST(&queue->ready[kind]);
}

static struct change *begin_work(struct change_queue *queue, struct item *item)
{
    change_queue_end_ready(queue, item);
    item->in_work = true;
    item->change.lane = item->lane;
    item->change.is_unknown = item->is_unknown;
    item->change.is_written |= item->is_written;
    item->is_written = false; /* who writes from now on says so again */
    item->change.n_wholes = item->n_wholes;
    return &item->change;
}

int change_queue_take(struct change_queue *queue, enum change_kind kind, bool wait,
                      struct change **ret_change)
{
    LOCKED(&queue->lock);
    struct turns *turns = change_queue_turns_of(queue, kind);
    for (;;) {
        if (queue->shut_down)
            return -ESHUTDOWN;
        struct item *item = turns ? change_queue_next_turn(queue, turns)
                                  : first_ready(queue, kind, LANE_FOREGROUND);
        if (item) {
            *ret_change = begin_work(queue, item);
            return 1;
        }
        if (!wait)
            return 0;
        pthread_cond_wait(&queue->noted[kind], &queue->lock);
    }
}

int change_queue_take_found(struct change_queue *queue, enum change_kind kind,
                            struct change **ret_change)
{
    assert(!change_queue_turns_of(queue, kind));
    LOCKED(&queue->lock);
    if (queue->shut_down)
        return -ESHUTDOWN;
    struct item *item = first_ready(queue, kind, LANE_SCAN);
    if (item)
        *ret_change = begin_work(queue, item);
    return item != NULL;
}

/* No more in work, and not slow as far as is known. */
static void end_work(struct change_queue *queue, struct item *item)
{
    if (item->change.kind == CHANGE_BELOW)
        change_queue_end_turn_of(item);
    else
        change_queue_leave_turns(queue, item);
    item->in_work = false;
    item->again = false;
    item->change.is_long = false;
}

static void put_back(struct change_queue *queue, struct item *item)
{
    end_work(queue, item);
    item->is_unknown = false;
    change_queue_make_ready(queue, item);
}

/* It is as if it had been noted when it was noted again. */
static void begin_anew(struct change_queue *queue, struct item *item)
{
    change_queue_leave_lane(queue, item);
    item->ticket = item->next_ticket;
    item->change.n_tries = 0;
    item->change.is_written = false;
    change_queue_enter_lane(queue, item, item->lane, NULL);
    put_back(queue, item);
}

void change_queue_done(struct change_queue *queue, struct change *change)
{
    struct item *item = (struct item *)change;
    bool wants_scan;
    {
        LOCKED(&queue->lock);
        if (item->again) {
            begin_anew(queue, item);
        } else {
            end_work(queue, item);
            drop(queue, item);
            change_queue_hold_if_done(queue);
        }
        wants_scan = queue->wants_scan;
    }
    change_queue_tell_work(queue, wants_scan);
}

void change_queue_pass_on(struct change_queue *queue, struct change *change, uid_t owner,
                          bool is_long)
{
    struct item *item = (struct item *)change;
    LOCKED(&queue->lock);
    end_work(queue, item);
    change_queue_join_turns(queue, change->kind == CHANGE_ENTRY ? &queue->below : &queue->slow,
                            item, owner);
    change->is_long = is_long;
    if (item->lane != LANE_SCAN && (is_long || !change_queue_has_room_ahead(queue, item, 0))) {
        change_queue_leave_lane(queue, item);
        change_queue_leave_share(queue, item);
        change_queue_enter_lane(queue, item, LANE_SCAN, NULL);
    }
    if (item->lane == LANE_FOREGROUND || change_queue_is_within_share(queue, item))
        change_queue_make_ready(queue, item);
    else
        drop(queue, item);
    change_queue_hold_if_done(queue);
}

void change_queue_retry(struct change_queue *queue, struct change *change)
{
    LOCKED(&queue->lock);
    change->n_tries++;
    put_back(queue, (struct item *)change);
}

void change_queue_shut_down(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    queue->shut_down = true;
    for (int kind = 0; kind < CHANGE_N_KINDS; kind++)
        pthread_cond_broadcast(&queue->noted[kind]);
    pthread_cond_broadcast(&queue->settled);
}

bool change_queue_is_shut_down(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    return queue->shut_down;
}
