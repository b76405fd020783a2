/* Turns are given among changes that take long: to the owner of whose changes fewest are worked on,
 * and to none who has as many in work as one may have. So nobody's documents, however many and long
 * they are, keep somebody else's waiting. Among owners of as many, one who has something in the
 * foreground goes first, and then the one who had a turn least recently. Owners are few, and a turn
 * is short beside the work: they are looked through. Users whom one person commands, more than
 * MAX_OWNERS of them, make the others wait, as so many users do, but not for a walk through all of
 * them: those past the bound share one turn.
 *
 * The queue has room for so many of them, which is shared out by owner as well: who has more than
 * are left for others has the rest dropped, and looked for once most of what was kept is done.
 * Nobody's keep others' from having room, nor those who find them from going on.
 */
#include <limits.h>
#include <stdlib.h>

#include "engine/index/queue/change_queue_private.h"

enum {
    MAX_OWNERS = 1024, /* some 20 us to look through */
    /* The changes of one owner in the foreground: as many as may be done while somebody waits for
     * them. */
    AHEAD_MAX = 32,
    /* The changes of one owner in the scan lane, at any rate: so many that a scan for the next is
     * worth it. */
    SHARE_MIN = 64,
    /* A scan comes when one in so many is left: each opens again all that there is no room for. */
    LEFT_AT_SCAN = 8,
};

void change_queue_bound_turns(struct change_queue *queue, enum change_kind kind, unsigned max_turns)
{
    LOCKED(&queue->lock);
    change_queue_turns_of(queue, kind)->max_in_work = max_turns;
}

void change_queue_bound_slow(struct change_queue *queue, size_t max_slow)
{
    LOCKED(&queue->lock);
    queue->max_slow = max_slow;
}

static void add_owner(struct turns *turns, struct turn *turn, uid_t owner)
{
    *turn = (struct turn){.all = turns, .owner = owner};
    for (int lane = 0; lane < LANE_N; lane++)
        TAILQ_INIT(&turn->ready[lane]);
    TAILQ_INSERT_HEAD(&turns->list, turn, next);
    turns->n++;
}

static struct turn *find_or_add(struct turns *turns, uid_t owner)
{
    struct turn *turn;
    TAILQ_FOREACH(turn, &turns->list, next)
    {
        if (turn->owner == owner)
            return turn;
    }
    turn = turns->n < MAX_OWNERS ? malloc(sizeof(*turn)) : NULL;
    if (!turn)
        return &turns->root; /* his, who is always there, and has to wait for others */
    add_owner(turns, turn, owner);
    return turn;
}

void change_queue_turns_init(struct turns *turns)
{
    TAILQ_INIT(&turns->list);
    add_owner(turns, &turns->root, 0);
    turns->max_in_work = UINT_MAX;
}

/* -- how many there are -- */

void change_queue_count_slow(struct change_queue *queue, const struct item *item)
{
    if (!item->turn)
        return;
    queue->n_slow[item->lane]++;
    item->turn->n_items[item->lane]++;
}

void change_queue_uncount_slow(struct change_queue *queue, const struct item *item)
{
    struct turn *turn = item->turn;
    if (!turn)
        return;
    queue->n_slow[item->lane]--;
    turn->n_items[item->lane]--;
    if (!turn->is_missing || turn->n_items[LANE_SCAN] > turn->n_at_scan)
        return;
    turn->is_missing = false;
    queue->wants_scan = true;
}

static bool is_slow_content(const struct change_queue *queue, const struct item *item)
{
    return item->turn && item->turn->all == &queue->slow;
}

bool change_queue_has_room_ahead(struct change_queue *queue, const struct item *item,
                                 unsigned n_more)
{
    return !is_slow_content(queue, item) ||
           item->turn->n_items[LANE_FOREGROUND] + n_more <= AHEAD_MAX;
}

bool change_queue_is_within_share(struct change_queue *queue, const struct item *item)
{
    struct turn *turn = item->turn;
    if (!is_slow_content(queue, item))
        return true;
    const size_t n_own = turn->n_items[LANE_SCAN], n_all = queue->n_slow[LANE_SCAN];
    if (n_own <= SHARE_MIN || (n_all <= queue->max_slow && n_own <= queue->max_slow - n_all))
        return true;
    turn->n_at_scan = turn->n_items[LANE_SCAN] / LEFT_AT_SCAN;
    turn->is_missing = true;
    return false;
}

bool change_queue_wants_scan(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    return queue->wants_scan;
}

void change_queue_scan_begins(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    queue->wants_scan = false;
}

/* -- whose turn it is -- */

void change_queue_end_turn_of(struct item *item)
{
    if (item->has_turn)
        item->turn->n_in_work--;
    item->has_turn = false;
}

void change_queue_join_turns(struct change_queue *queue, struct turns *turns, struct item *item,
                             uid_t owner)
{
    item->turn = find_or_add(turns, owner);
    change_queue_count_slow(queue, item);
}

void change_queue_end_turn(struct change_queue *queue, struct change *change)
{
    struct item *item = (struct item *)change;
    LOCKED(&queue->lock);
    change_queue_end_turn_of(item);
    /* Another thread takes what the owner may have in work now: the caller may have to wait before
     * it takes the next change, as it has not to where a change is over or put back. */
    pthread_cond_signal(&queue->noted[change_queue_taken_as(item)]);
}

void change_queue_leave_turns(struct change_queue *queue, struct item *item)
{
    struct turn *turn = item->turn;
    if (!turn)
        return;
    change_queue_end_turn_of(item);
    change_queue_uncount_slow(queue, item);
    item->turn = NULL;
    if (turn->n_items[LANE_FOREGROUND] || turn->n_items[LANE_SCAN] || turn == &turn->all->root)
        return;
    TAILQ_REMOVE(&turn->all->list, turn, next);
    turn->all->n--;
    free(turn);
}

static struct item *first_of(const struct change_queue *queue, const struct turn *turn)
{
    for (int lane = 0; lane < LANE_N; lane++)
        if (!TAILQ_EMPTY(&turn->ready[lane]) && !change_queue_is_held(queue, lane))
            return TAILQ_FIRST(&turn->ready[lane]);
    return NULL;
}

struct item *change_queue_next_turn(struct change_queue *queue, struct turns *turns)
{
    struct item *best = NULL;
    struct turn *turn;
    TAILQ_FOREACH(turn, &turns->list, next)
    {
        struct item *item = turn->n_in_work < turns->max_in_work ? first_of(queue, turn) : NULL;
        if (item && (!best || turn->n_in_work < best->turn->n_in_work ||
                     (turn->n_in_work == best->turn->n_in_work && item->lane < best->lane)))
            best = item;
    }
    if (!best)
        return NULL;
    turn = best->turn;
    turn->n_in_work++;
    best->has_turn = true;
    TAILQ_REMOVE(&turns->list, turn, next);
    TAILQ_INSERT_TAIL(&turns->list, turn, next);
    return best;
}
