#include "engine/index/queue/change_queue_private.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
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

static struct item_list *ready_of(struct change_queue *queue, const struct item *item)
{
    return item->turn    ? &item->turn->ready[item->lane]
           : item->share ? &item->share->ready[item->change.kind]
                         : &queue->ready[item->change.kind];
}

static void end_ready(struct change_queue *queue, struct item *item)
{
    TAILQ_REMOVE(ready_of(queue, item), item, ready);
    change_queue_end_waiting(queue, item);
}

static void make_ready(struct change_queue *queue, struct item *item)
{
    TAILQ_INSERT_TAIL(ready_of(queue, item), item, ready);
    change_queue_begin_waiting(queue, item);
    if (!change_queue_is_held(queue, item->lane))
        pthread_cond_signal(&queue->noted[change_queue_taken_as(item)]);
}

/* One step on the way to the last item whose ticket is not larger, of which there is none behind
 * the last one. Returns whether *item is that; NULL: all have larger ones. */
static bool comes_to_place(struct item **item, uint64_t ticket)
{
    if ((*item)->ticket > ticket) {
        *item = TAILQ_PREV(*item, item_list, outstanding);
        return !*item || (*item)->ticket <= ticket;
    }
    struct item *next = TAILQ_NEXT(*item, outstanding);
    if (next->ticket > ticket)
        return true;
    *item = next;
    return false;
}

/* The last item of a lane whose ticket is not larger, or NULL. What is new belongs last; what comes
 * from another lane mostly comes in order, and so belongs beside the one that came before it; what
 * was noted again in work belongs before what came since, and what was scanned and is noted before
 * most. So it is looked for from the end, from the one before and from the beginning at once, and
 * the nearest of these tells how long that takes. */
static struct item *place_of(struct change_queue *queue, enum change_lane lane, uint64_t ticket)
{
    struct item *last = TAILQ_LAST(&queue->outstanding[lane], item_list);
    if (!last || last->ticket <= ticket)
        return last;
    struct item *first = TAILQ_FIRST(&queue->outstanding[lane]);
    struct item *near = queue->moved_last[lane] ? queue->moved_last[lane] : first;
    for (;;) {
        if (comes_to_place(&last, ticket))
            return last;
        if (comes_to_place(&near, ticket))
            return near;
        if (comes_to_place(&first, ticket))
            return first;
    }
}

/* Outstanding changes stand in ticket order. A part stands behind its whole, which may be far from
 * both ends. */
static void enter_lane(struct change_queue *queue, struct item *item, enum change_lane lane,
                       struct item *parent)
{
    struct item *before = parent && parent->lane == lane && parent->ticket == item->ticket
                              ? parent
                              : place_of(queue, lane, item->ticket);
    if (before)
        TAILQ_INSERT_AFTER(&queue->outstanding[lane], before, item, outstanding);
    else
        TAILQ_INSERT_HEAD(&queue->outstanding[lane], item, outstanding);
    item->lane = lane;
    queue->n_outstanding[lane]++;
    queue->n_contents[lane] += item->change.kind == CHANGE_CONTENT;
    change_queue_count_slow(queue, item);
    if (TAILQ_NEXT(item, outstanding))
        queue->moved_last[lane] = item;
}

static void leave_lane(struct change_queue *queue, struct item *item)
{
    if (queue->moved_last[item->lane] == item)
        queue->moved_last[item->lane] = TAILQ_PREV(item, item_list, outstanding);
    TAILQ_REMOVE(&queue->outstanding[item->lane], item, outstanding);
    queue->n_outstanding[item->lane]--;
    queue->n_contents[item->lane] -= item->change.kind == CHANGE_CONTENT;
    change_queue_uncount_slow(queue, item);
    pthread_cond_broadcast(&queue->settled);
}

static void drop(struct change_queue *queue, struct item *item)
{
    change_queue_leave_turns(queue, item);
    change_queue_leave_share(queue, item);
    SLIST_REMOVE(bucket_of(queue, item->hash), item, item, bucket);
    leave_lane(queue, item);
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
        end_ready(queue, most);
        drop(queue, most);
        queue->wants_scan = true;
    }
    *ret_share = share;
    return 0;
}

/* A thing that is noted while it is worked on is another change: who waits from now on waits until
 * it is done once more, and who waited before does not. So a thing that changes without end keeps
 * nobody. */
static void note_in_work(struct change_queue *queue, struct item *item, const struct item *parent)
{
    const uint64_t ticket = parent ? parent->ticket : queue->next_ticket++;
    if (!item->again || ticket < item->next_ticket)
        item->next_ticket = ticket;
    item->again = true;
}

/* A known change is noted again, perhaps in a lane ahead of its own, or as a part of an older one:
 * who waits for that one waits for both. A long one stays where it is, and one of an owner who has
 * enough ahead: nobody waits for it. */
static void note_again(struct change_queue *queue, struct item *item, enum change_lane lane,
                       uid_t owner, struct item *parent)
{
    struct share *share = NULL;
    bool ahead = lane < item->lane && !item->change.is_long &&
                 change_queue_has_room_ahead(queue, item, 1) &&
                 find_place(queue, owner, &share) == 0,
         older = parent && parent->ticket < item->ticket;
    if (item->in_work)
        note_in_work(queue, item, parent);
    if (parent && item->n_wholes <= parent->n_wholes)
        item->n_wholes = parent->n_wholes + 1;
    if (!ahead && !older)
        return;
    if (!ahead)
        lane = item->lane;
    if (ahead && !item->in_work)
        end_ready(queue, item);
    leave_lane(queue, item);
    if (ahead)
        change_queue_join_share(queue, share, item);
    if (older)
        item->ticket = parent->ticket;
    enter_lane(queue, item, lane, parent);
    if (ahead && !item->in_work)
        make_ready(queue, item);
}

static int note_locked(struct change_queue *queue, enum change_lane lane, enum change_kind kind,
                       const struct file_key *key, const char *name, uid_t owner, bool is_unknown,
                       struct item *parent)
{
    if (queue->shut_down)
        return -ESHUTDOWN;
    uint64_t hash = hash_change(queue, kind, key, name);
    struct item *item = find(queue, hash, kind, key, name);
    if (item) {
        item->is_unknown &= is_unknown;
        note_again(queue, item, lane, owner, parent);
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
    if (parent) {
        item->n_wholes = parent->n_wholes + 1;
        item->change.n_tries = parent->change.n_tries +
                               (kind == CHANGE_ENTRY && parent->change.kind == CHANGE_CONTENT);
    }
    item->hash = hash;
    item->is_unknown = is_unknown;
    SLIST_INSERT_HEAD(bucket_of(queue, hash), item, bucket);
    item->ticket = parent ? parent->ticket : queue->next_ticket++;
    enter_lane(queue, item, lane, parent);
    if (share)
        change_queue_join_share(queue, share, item);
    if (kind == CHANGE_BELOW)
        change_queue_join_turns(queue, &queue->below, item, owner);
    make_ready(queue, item);
    return 1;
}

static int note(struct change_queue *queue, enum change_lane lane, enum change_kind kind,
                const struct file_key *key, const char *name, uid_t owner, bool is_unknown,
                const struct change *parent)
{
    assert((kind == CHANGE_ENTRY) == (name != NULL));
    bool work;
    int r;
    {
        LOCKED(&queue->lock);
        const bool wanted_scan = queue->wants_scan;
        r = note_locked(queue, lane, kind, key, name, owner, is_unknown, (struct item *)parent);
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
                      const struct change *parent)
{
    assert(kind != CHANGE_BELOW);
    return note(queue, lane, kind, key, name, owner, false, parent);
}

int change_queue_note_unknown(struct change_queue *queue, enum change_lane lane,
                              const struct file_key *key, uid_t owner, const struct change *parent)
{
    return note(queue, lane, CHANGE_CONTENT, key, NULL, owner, true, parent);
}

int change_queue_note_below(struct change_queue *queue, const struct file_key *directory,
                            uid_t owner, const struct change *parent)
{
    return note(queue, LANE_FOREGROUND, CHANGE_BELOW, directory, NULL, owner, false, parent);
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
    end_ready(queue, item);
    item->in_work = true;
    item->change.lane = item->lane;
    item->change.is_unknown = item->is_unknown;
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
    make_ready(queue, item);
}

/* It is as if it had been noted when it was noted again. */
static void begin_anew(struct change_queue *queue, struct item *item)
{
    leave_lane(queue, item);
    item->ticket = item->next_ticket;
    item->change.n_tries = 0;
    enter_lane(queue, item, item->lane, NULL);
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
        leave_lane(queue, item);
        change_queue_leave_share(queue, item);
        enter_lane(queue, item, LANE_SCAN, NULL);
    }
    if (item->lane == LANE_FOREGROUND || change_queue_is_within_share(queue, item))
        make_ready(queue, item);
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

size_t change_queue_outstanding(struct change_queue *queue, enum change_lane lane)
{
    LOCKED(&queue->lock);
    return queue->n_outstanding[lane];
}

size_t change_queue_documents(struct change_queue *queue, enum change_lane lane)
{
    LOCKED(&queue->lock);
    const size_t n_contents = queue->n_contents[lane];
    const size_t n_names = queue->n_outstanding[lane] - n_contents;
    return n_contents > n_names ? n_contents : n_names;
}

size_t change_queue_slow(struct change_queue *queue, enum change_lane lane)
{
    LOCKED(&queue->lock);
    return queue->n_slow[lane];
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
