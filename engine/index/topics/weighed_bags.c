/* One pass counts the bags, for what df is too much; the other has them weighed (target_bags.h).
 *
 * Left out: keeping df from one time to the next; a word's df changes the weights of all that have
 * it.
 */
#include "engine/index/topics/weighed_bags.h"

#include <errno.h>

#include "engine/cluster/large/parallel.h"
#include "engine/index/tables/bags.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"
#include "engine/index/topics/bags_walk.h"
#include "engine/topic/bags/target_bags.h"

enum { LEAST_BYTES = 8 << 20, MOST_BYTES = 64 << 20, A_BAG_BYTES = 4 << 10 };

size_t weighed_bags_memory(uint64_t n_bags)
{
    const size_t most = MOST_BYTES / A_BAG_BYTES;
    const size_t bytes = (n_bags < most ? (size_t)n_bags : most) * A_BAG_BYTES;
    return bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
}

static int each_row(struct weighed_bags *bags)
{
    const unsigned table = bags->kind & TOPICS_CONTENT ? TABLE_BAGS : TABLE_FRAGMENTS;
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    int r = table_walk_begin(&walk, bags->kv, table, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        uint64_t sid;
        r = bags_decode_key(row.key, &sid);
        if (r == 0 && parallel_told(bags->stop))
            r = -ESHUTDOWN;
        if (r == 0)
            r = bags->row(bags->user, sid);
    }
    return r;
}

/* targets: NULL: they are counted */
static int each_bag(struct weighed_bags *bags, struct target_bags *targets)
{
    _cleanup_(bags_walk_done) struct bags_walk walk = {0};
    struct bag bag;
    uint64_t sid;
    int r = bags_walk_begin(&walk, bags->kind, bags->kv, bags->anchors, bags->epoch);
    while (r >= 0 && (r = bags_walk_next(&walk, &sid, &bag)) > 0) {
        r = parallel_told(bags->stop) ? -ESHUTDOWN
            : targets                 ? target_bags_add(targets, target_of_number(sid), &bag)
                                      : 0;
        bags->n_bags += targets == NULL;
        bag_done(&bag);
    }
    return r == -ESTALE ? -EAGAIN : r; /* the store was opened anew */
}

int weighed_bags_begin(struct weighed_bags *bags)
{
    int r = bags->row ? each_row(bags) : 0;
    return r < 0 ? (r == -ESTALE ? -EAGAIN : r) : each_bag(bags, NULL);
}

static int take_weighed(void *user, uint64_t target, const struct bag *bag)
{
    struct weighed_bags *bags = user;
    return parallel_told(bags->stop) ? -ESHUTDOWN
                                     : bags->bag(bags->user, number_of_target(target), bag);
}

int weighed_bags_each(struct weighed_bags *bags)
{
    _cleanup_(target_bags_free_p) struct target_bags *targets = NULL;
    struct target_bags_counts counts;
    struct target_bags_options options = {.directory = bags->scratch,
                                          .n_buckets = TARGET_BAGS_BUCKETS,
                                          .memory_bytes = weighed_bags_memory(bags->n_bags),
                                          .weighing = bags_weighing(bags->n_bags),
                                          .numbers = BAG_WHOLE,
                                          .word = bags->word,
                                          .word_user = bags->user,
                                          .stop = bags->stop};
    int r = target_bags_new(&options, &targets);
    if (r == 0)
        r = each_bag(bags, targets);
    if (r == 0)
        r = target_bags_finish(targets, take_weighed, bags, &counts);
    return r == -ECANCELED ? -ESHUTDOWN : r;
}
