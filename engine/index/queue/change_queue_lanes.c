/* The changes of a lane stand in the order of their tickets, so the first of them tells whether
 * somebody's wait is over; and those that can be taken stand in lists of their own beside.
 *
 * Example: tickets 3 5 5 8 are outstanding, and what was passed on with ticket 4 comes from the
 * other lane: its place, behind 3, is looked for from three sides at once. What is new has the
 * largest ticket, and its place at the end at once. */
#include "engine/index/queue/change_queue_private.h"

static struct item_list *ready_of(struct change_queue *queue, const struct item *item)
{
    return item->turn    ? &item->turn->ready[item->lane]
           : item->share ? &item->share->ready[item->change.kind]
                         : &queue->ready[item->change.kind];
}

void change_queue_end_ready(struct change_queue *queue, struct item *item)
{
    TAILQ_REMOVE(ready_of(queue, item), item, ready);
    change_queue_end_waiting(queue, item);
}

void change_queue_make_ready(struct change_queue *queue, struct item *item)
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
void change_queue_enter_lane(struct change_queue *queue, struct item *item, enum change_lane lane,
                             struct item *whole)
{
    struct item *before = whole && whole->lane == lane && whole->ticket == item->ticket
                              ? whole
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

void change_queue_leave_lane(struct change_queue *queue, struct item *item)
{
    if (queue->moved_last[item->lane] == item)
        queue->moved_last[item->lane] = TAILQ_PREV(item, item_list, outstanding);
    TAILQ_REMOVE(&queue->outstanding[item->lane], item, outstanding);
    queue->n_outstanding[item->lane]--;
    queue->n_contents[item->lane] -= item->change.kind == CHANGE_CONTENT;
    change_queue_uncount_slow(queue, item);
    pthread_cond_broadcast(&queue->settled);
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
