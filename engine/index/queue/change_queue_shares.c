/* The foreground is shared out by owner. As long as there is room everybody has it; where there is
 * none, who has fewer than another gets a place of that one's, so that whoever wants many has as
 * many as others who do, in the end, and who wants few has these. The newest goes of who has most:
 * what was noted first is done.
 *
 * Changes are taken in turns of their owners, too, so that who has few has them looked at at once.
 * A turn has some names: most of those that come together are of one directory, which is opened
 * once for them.
 *
 * Owners stand in lists by their number of items, so that who has most is found at once; and in a
 * table by the last digits of their number, by which those differ that one person commands. */
#include <errno.h>
#include <stdlib.h>

#include "engine/index/queue/change_queue_private.h"

enum { NAMES_AT_A_TURN = 16 };

int change_queue_shares_new(struct change_queue *queue)
{
    const size_t max = queue->max_changes[LANE_FOREGROUND];
    queue->n_shares = 1;
    while (queue->n_shares < max)
        queue->n_shares *= 2;
    queue->shares = calloc(queue->n_shares, sizeof(queue->shares[0]));
    queue->as_many = calloc(max + 1, sizeof(queue->as_many[0]));
    if (!queue->shares || !queue->as_many) {
        change_queue_shares_free(queue);
        return -ENOMEM;
    }
    for (int kind = 0; kind < N_PLAIN_KINDS; kind++)
        TAILQ_INIT(&queue->plain[kind]);
    return 0;
}

void change_queue_shares_free(struct change_queue *queue)
{
    free(queue->shares);
    free(queue->as_many);
}

struct share *change_queue_share_of(struct change_queue *queue, uid_t owner)
{
    struct share_bucket *bucket = &queue->shares[owner & (queue->n_shares - 1)];
    struct share *share;
    LIST_FOREACH(share, bucket, of_bucket)
    {
        if (share->owner == owner)
            return share;
    }
    share = calloc(1, sizeof(*share));
    if (!share)
        return NULL;
    share->owner = owner;
    TAILQ_INIT(&share->waiting);
    for (int kind = 0; kind < N_PLAIN_KINDS; kind++)
        TAILQ_INIT(&share->ready[kind]);
    LIST_INSERT_HEAD(bucket, share, of_bucket);
    return share;
}

void change_queue_return_share(struct share *share)
{
    if (share->n_items)
        return;
    LIST_REMOVE(share, of_bucket);
    free(share);
}

struct item *change_queue_to_drop(struct change_queue *queue, const struct share *share)
{
    if (share->n_items + 1 >= queue->n_most)
        return NULL;
    return TAILQ_LAST(&LIST_FIRST(&queue->as_many[queue->n_most])->waiting, item_list);
}

static void set_n_items(struct change_queue *queue, struct share *share, size_t n_items)
{
    if (share->n_items)
        LIST_REMOVE(share, as_many);
    share->n_items = n_items;
    if (n_items)
        LIST_INSERT_HEAD(&queue->as_many[n_items], share, as_many);
    if (n_items > queue->n_most)
        queue->n_most = n_items;
    else if (LIST_EMPTY(&queue->as_many[queue->n_most]))
        queue->n_most = n_items; /* one fewer than before, so nobody has more */
}

void change_queue_join_share(struct change_queue *queue, struct share *share, struct item *item)
{
    item->share = share;
    set_n_items(queue, share, share->n_items + 1);
}

void change_queue_leave_share(struct change_queue *queue, struct item *item)
{
    struct share *share = item->share;
    if (!share)
        return;
    item->share = NULL;
    set_n_items(queue, share, share->n_items - 1);
    change_queue_return_share(share);
}

void change_queue_begin_waiting(struct change_queue *queue, struct item *item)
{
    const enum change_kind kind = item->change.kind;
    struct share *share = item->share;
    if (!share)
        return;
    TAILQ_INSERT_TAIL(&share->waiting, item, waiting);
    if (!item->turn && TAILQ_FIRST(&share->ready[kind]) == item)
        TAILQ_INSERT_TAIL(&queue->plain[kind], share, next[kind]);
}

void change_queue_end_waiting(struct change_queue *queue, struct item *item)
{
    const enum change_kind kind = item->change.kind;
    struct share *share = item->share;
    if (!share)
        return;
    TAILQ_REMOVE(&share->waiting, item, waiting);
    if (!item->turn && TAILQ_EMPTY(&share->ready[kind]))
        TAILQ_REMOVE(&queue->plain[kind], share, next[kind]);
}

struct item *change_queue_next_plain(struct change_queue *queue, enum change_kind kind)
{
    struct share *share = TAILQ_FIRST(&queue->plain[kind]);
    if (!share)
        return NULL;
    if (kind == CHANGE_CONTENT || ++share->n_names % NAMES_AT_A_TURN == 0) {
        TAILQ_REMOVE(&queue->plain[kind], share, next[kind]);
        TAILQ_INSERT_TAIL(&queue->plain[kind], share, next[kind]);
    }
    return TAILQ_FIRST(&share->ready[kind]);
}
