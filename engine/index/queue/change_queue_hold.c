/* Changes that are held back, and who waits until they are done.
 *
 * The foreground is held only from when nothing of it is outstanding: what leads to another change
 * is never held up half-way. */
#include <errno.h>

#include "base/deadline.h"
#include "engine/index/queue/change_queue_private.h"

void change_queue_hold_if_done(struct change_queue *queue)
{
    if (queue->holds && queue->n_waiting == 0 && queue->n_outstanding[LANE_FOREGROUND] == 0)
        queue->held = true, queue->asked = false;
}

/* Returns whether there is something for change_queue_on_work() to tell, once the lock is free. */
static bool release(struct change_queue *queue)
{
    if (!queue->held)
        return false;
    queue->held = false;
    pthread_cond_broadcast(&queue->noted[CHANGE_CONTENT]);
    pthread_cond_broadcast(&queue->noted[CHANGE_SLOW_CONTENT]);
    pthread_cond_broadcast(&queue->noted[CHANGE_BELOW]);
    return !TAILQ_EMPTY(&queue->plain[CHANGE_ENTRY]);
}

void change_queue_tell_work(struct change_queue *queue, bool wanted)
{
    if (wanted && queue->wake)
        queue->wake(queue->wake_user);
}

void change_queue_hold(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    queue->holds = true;
    change_queue_hold_if_done(queue);
}

static bool release_for_good(struct change_queue *queue)
{
    queue->asked = true;
    return release(queue);
}

void change_queue_release(struct change_queue *queue)
{
    bool work;
    {
        LOCKED(&queue->lock);
        work = release(queue);
    }
    change_queue_tell_work(queue, work);
}

void change_queue_hold_again(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    if (queue->holds && !queue->asked && queue->n_waiting == 0)
        queue->held = true;
}

bool change_queue_is_holding(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    return queue->held && queue->n_outstanding[LANE_FOREGROUND] > 0;
}

uint64_t change_queue_count_notes(struct change_queue *queue)
{
    LOCKED(&queue->lock);
    return queue->n_notes;
}

bool change_queue_look_after_holding(struct change_queue *queue, enum change_lane lane)
{
    if (lane != LANE_FOREGROUND)
        return false;
    queue->n_notes++;
    if (queue->n_outstanding[lane] >= queue->max_changes[lane] / 2)
        return release_for_good(queue);
    return queue->held && queue->n_outstanding[lane] == 1;
}

/* -- who waits -- */

static bool settled_up_to(struct change_queue *queue, enum change_lane lane, uint64_t ticket)
{
    for (enum change_lane l = 0; l <= lane; l++) {
        struct item *oldest = TAILQ_FIRST(&queue->outstanding[l]);
        if (oldest && oldest->ticket < ticket)
            return false;
    }
    return true;
}

static int wait_until_settled(struct change_queue *queue, enum change_lane lane, uint64_t ticket,
                              int wait_ms)
{
    struct timespec end = deadline_after_ms(wait_ms > 0 ? wait_ms : 0);

    while (!settled_up_to(queue, lane, ticket)) {
        if (queue->shut_down)
            return -ESHUTDOWN;
        int r = wait_ms < 0 ? pthread_cond_wait(&queue->settled, &queue->lock)
                            : pthread_cond_timedwait(&queue->settled, &queue->lock, &end);
        if (r == ETIMEDOUT && !settled_up_to(queue, lane, ticket))
            return -ETIMEDOUT;
    }
    return 0;
}

int change_queue_settle_on(struct change_queue *queue, enum change_lane lane, uint64_t *ticket,
                           int wait_ms)
{
    bool work;
    {
        LOCKED(&queue->lock);
        if (!*ticket)
            *ticket = queue->next_ticket;
        if (settled_up_to(queue, lane, *ticket))
            return 0;
        work = release_for_good(queue);
        queue->n_waiting++;
    }
    change_queue_tell_work(queue, work);
    LOCKED(&queue->lock);
    int r = wait_until_settled(queue, lane, *ticket, wait_ms);
    queue->n_waiting--;
    change_queue_hold_if_done(queue);
    return r;
}

int change_queue_settle(struct change_queue *queue, enum change_lane lane, int wait_ms)
{
    uint64_t ticket = 0;
    return change_queue_settle_on(queue, lane, &ticket, wait_ms);
}
