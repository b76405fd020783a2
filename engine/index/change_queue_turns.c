/* Whose turn it is among changes that take long: theirs of whom fewest are worked on, and nobody's
 * who has as many in work as one may have. So nobody's documents, however many and long they are,
 * keep somebody else's waiting. Among owners of as many, who has something in the foreground goes
 * first, and then who had a turn least recently. Owners are few, and a turn is short beside the
 * work: they are looked through. Who commands more users than MAX_OWNERS makes the others wait, as
 * so many users do, but not for a walk through all of them: those past the bound share one turn.
 */
#include <stdlib.h>

#include "engine/index/change_queue_private.h"

enum { MAX_OWNERS = 1024 }; /* some 20 us to look through */

void change_queue_bound_turns(struct change_queue *queue, unsigned max_turns)
{
    LOCKED(&queue->lock);
    queue->max_turns = max_turns;
}

static struct turn *find_or_add(struct change_queue *queue, uid_t owner)
{
    struct turn *turn;
    TAILQ_FOREACH(turn, &queue->turns, next)
    {
        if (turn->owner == owner)
            return turn;
    }
    turn = queue->n_turns < MAX_OWNERS ? malloc(sizeof(*turn)) : NULL;
    if (!turn)
        return &queue->root; /* his, who is always there, and has to wait for others */
    change_queue_turn_init(queue, turn, owner);
    return turn;
}

void change_queue_turn_init(struct change_queue *queue, struct turn *turn, uid_t owner)
{
    *turn = (struct turn){.owner = owner};
    for (int lane = 0; lane < LANE_N; lane++)
        TAILQ_INIT(&turn->ready[lane]);
    TAILQ_INSERT_HEAD(&queue->turns, turn, next);
    queue->n_turns++;
}

static void end_turn(struct item *item)
{
    if (item->has_turn)
        item->turn->n_in_work--;
    item->has_turn = false;
}

void change_queue_join_turns(struct change_queue *queue, struct item *item, uid_t owner)
{
    item->turn = find_or_add(queue, owner);
    item->turn->n_items++;
    queue->n_slow[item->lane]++;
}

void change_queue_end_turn(struct change_queue *queue, struct change *change)
{
    struct item *item = (struct item *)change;
    LOCKED(&queue->lock);
    end_turn(item);
    /* Another thread takes what the owner may have in work now: the caller may have to wait before
     * it takes the next change, as it has not to where a change is over or put back. */
    pthread_cond_signal(&queue->noted[CHANGE_SLOW_CONTENT]);
}

void change_queue_leave_turns(struct change_queue *queue, struct item *item)
{
    struct turn *turn = item->turn;
    if (!turn)
        return;
    end_turn(item);
    item->turn = NULL;
    queue->n_slow[item->lane]--;
    if (--turn->n_items > 0 || turn == &queue->root)
        return;
    TAILQ_REMOVE(&queue->turns, turn, next);
    queue->n_turns--;
    free(turn);
}

static struct item *first_of(const struct change_queue *queue, const struct turn *turn)
{
    for (int lane = 0; lane < LANE_N; lane++)
        if (!TAILQ_EMPTY(&turn->ready[lane]) && !change_queue_is_held(queue, lane))
            return TAILQ_FIRST(&turn->ready[lane]);
    return NULL;
}

struct item *change_queue_next_turn(struct change_queue *queue)
{
    struct item *best = NULL;
    struct turn *turn;
    TAILQ_FOREACH(turn, &queue->turns, next)
    {
        struct item *item = turn->n_in_work < queue->max_turns ? first_of(queue, turn) : NULL;
        if (item && (!best || turn->n_in_work < best->turn->n_in_work ||
                     (turn->n_in_work == best->turn->n_in_work && item->lane < best->lane)))
            best = item;
    }
    if (!best)
        return NULL;
    turn = best->turn;
    turn->n_in_work++;
    best->has_turn = true;
    TAILQ_REMOVE(&queue->turns, turn, next);
    TAILQ_INSERT_TAIL(&queue->turns, turn, next);
    return best;
}
