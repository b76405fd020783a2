/* Two tables are walked side by side. */
#include "engine/index/topics/bags_walk.h"

#include <errno.h>

#include "engine/index/tables/schema.h"

static void of_done(struct bags_of *of)
{
    table_walk_done(&of->walk);
    bag_done(&of->bag);
}

void bags_walk_done(struct bags_walk *walk)
{
    of_done(&walk->content);
    of_done(&walk->anchors);
}

static int next_of(struct bags_walk *walk, struct bags_of *of)
{
    struct kv_entry row;
    uint32_t epoch = walk->epoch;
    of->has = false;
    int r = of->wanted ? table_walk_next(&of->walk, &row) : 0;
    if (r <= 0)
        return r;
    r = of == &walk->content ? bags_decode_key(row.key, &of->sid)
                             : anchors_decode_key(row.key, &epoch, &of->sid);
    if (r < 0 || epoch != walk->epoch)
        return r;
    r = bags_decode(row.value, &of->bag);
    of->has = r == 0;
    return r;
}

int bags_walk_begin(struct bags_walk *walk, enum topics_kind kind, struct kv *contents,
                    struct kv *anchors, uint32_t epoch)
{
    uint8_t key[ANCHORS_KEY_BYTES];
    walk->content.wanted = kind & TOPICS_CONTENT;
    walk->anchors.wanted = kind & TOPICS_ANCHOR;
    walk->epoch = epoch;
    int r = table_walk_begin(&walk->content.walk, contents, TABLE_BAGS, (struct kv_slice){0});
    if (r == 0)
        r = table_walk_begin(&walk->anchors.walk, anchors, TABLE_ANCHORS,
                             anchors_key(key, epoch, 0));
    if (r == 0)
        r = next_of(walk, &walk->content);
    return r < 0 ? r : next_of(walk, &walk->anchors);
}

/* Takes the bag of one, or of both where they are of one document. */
static int take(struct bags_walk *walk, uint64_t *ret_sid, struct bag *ret_bag)
{
    struct bags_of *content = &walk->content, *anchors = &walk->anchors;
    if (content->has && anchors->has && content->sid == anchors->sid) {
        *ret_sid = content->sid;
        int r = bag_merge(&content->bag, &anchors->bag, ret_bag);
        bag_done(&content->bag);
        bag_done(&anchors->bag);
        if (r == 0)
            r = next_of(walk, content);
        return r < 0 ? r : next_of(walk, anchors);
    }
    struct bags_of *first =
        content->has && (!anchors->has || content->sid < anchors->sid) ? content : anchors;
    *ret_sid = first->sid;
    *ret_bag = first->bag;
    first->bag = (struct bag){0};
    return next_of(walk, first);
}

int bags_walk_next(struct bags_walk *walk, uint64_t *ret_sid, struct bag *ret_bag)
{
    while (walk->content.has || walk->anchors.has) {
        struct bag bag = {0};
        int r = take(walk, ret_sid, &bag);
        if (r == 0 && bag.n_words) {
            *ret_bag = bag;
            return 1;
        }
        bag_done(&bag);
        if (r < 0)
            return r;
    }
    return 0;
}
