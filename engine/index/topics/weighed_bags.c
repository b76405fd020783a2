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
#include "engine/topic/bags/target_bags.h"

enum { LEAST_BYTES = 8 << 20, MOST_BYTES = 64 << 20, A_BAG_BYTES = 4 << 10 };

size_t weighed_bags_memory(uint64_t n_bags)
{
    const size_t most = MOST_BYTES / A_BAG_BYTES;
    const size_t bytes = (n_bags < most ? (size_t)n_bags : most) * A_BAG_BYTES;
    return bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
}

static int each_row(struct weighed_bags *bags,
                    int (*take)(struct weighed_bags *bags, uint64_t sid, const struct bag *bag,
                                struct target_bags *targets),
                    struct target_bags *targets)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    int r = table_walk_begin(&walk, bags->kv, TABLE_BAGS, (struct kv_slice){0});
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        _cleanup_(bag_done) struct bag bag = {0};
        uint64_t sid;
        r = bags_decode_key(row.key, &sid);
        if (r == 0)
            r = bags_decode(row.value, &bag);
        if (r == 0 && parallel_told(bags->stop))
            r = -ESHUTDOWN;
        if (r == 0)
            r = take(bags, sid, &bag, targets);
    }
    return r == -ESTALE ? -EAGAIN : r; /* the store was opened anew */
}

static int count_bag(struct weighed_bags *bags, uint64_t sid, const struct bag *bag,
                     struct target_bags *targets)
{
    (void)targets;
    bags->n_bags += bag->n_words > 0;
    return bags->row ? bags->row(bags->user, sid) : 0;
}

int weighed_bags_begin(struct weighed_bags *bags)
{
    return each_row(bags, count_bag, NULL);
}

static int add_bag(struct weighed_bags *bags, uint64_t sid, const struct bag *bag,
                   struct target_bags *targets)
{
    (void)bags;
    return bag->n_words ? target_bags_add(targets, target_of_number(sid), bag) : 0;
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
        r = each_row(bags, add_bag, targets);
    if (r == 0)
        r = target_bags_finish(targets, take_weighed, bags, &counts);
    return r == -ECANCELED ? -ESHUTDOWN : r;
}
