#include "engine/index/answers/topics/word_weights.h"

#include <errno.h>

#include "engine/index/tables/schema.h"
#include "engine/index/tables/word_lists.h"
#include "engine/index/topics/bags_walk.h"

int word_weights_begin(struct word_weights *weights, struct kv *kv, struct topics *topics)
{
    *weights = (struct word_weights){.kv = kv, .topics = topics, .epoch = topics_epoch(topics)};
    return weights->epoch.epoch ? 0 : -ENODATA;
}

void word_weights_done(struct word_weights *weights)
{
    id_map_done(&weights->dfs);
}

bool word_weights_are_over(const struct word_weights *weights)
{
    return topics_epoch(weights->topics).epoch != weights->epoch.epoch;
}

static int take_df(struct word_weights *weights, uint64_t word, const struct kv_buf *value)
{
    struct word_list list;
    uint32_t df = 0;
    if (value->data &&
        (word_list_begin(&list, kv_buf_slice(value), 0, &df) < 0 || df > weights->epoch.n_bags))
        return -EUCLEAN;
    return id_map_add(&weights->dfs, word, df);
}

/* Words of a bag whose df is not known yet have it looked up. */
static int look_up(struct word_weights *weights, const struct bag *bag)
{
    uint8_t bytes[BAGS_WALK_MOST_WORDS][WORD_LISTS_KEY_BYTES];
    struct kv_slice keys[BAGS_WALK_MOST_WORDS];
    struct kv_buf values[BAGS_WALK_MOST_WORDS] = {0};
    uint64_t words[BAGS_WALK_MOST_WORDS];
    size_t n = 0;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        const uint64_t word = bag->words[i].word;
        if (word == 0 || id_map_find(&weights->dfs, word) != ID_MAP_NONE)
            continue;
        words[n] = word;
        keys[n] = word_lists_key(bytes[n], weights->epoch.epoch, word, 0);
        n++;
    }
    int r = n ? kv_multi_get(weights->kv, TABLE_WORD_LISTS, keys, n, values) : 0;
    for (size_t i = 0; r >= 0 && i < n; i++)
        r = take_df(weights, words[i], &values[i]);
    for (size_t i = 0; i < n; i++)
        kv_buf_done(&values[i]);
    return r < 0 ? r : 0;
}

/* Words without a list weigh nothing. */
static void weigh(const struct word_weights *weights, struct bag *bag)
{
    const struct bag_weighing weighing = bags_weighing(weights->epoch.n_bags);
    uint32_t n = 0;
    for (uint32_t i = 0; i < bag->n_words; i++) {
        const struct bag_word word = bag->words[i];
        const uint32_t df = word.word ? id_map_find(&weights->dfs, word.word) : 0;
        const double weight =
            df ? bag_weight(&weighing, word.weight, df, weights->epoch.n_bags) : 0;
        if (weight > 0)
            bag->words[n++] = (struct bag_word){word.word, weight};
    }
    bag->n_words = n;
}

int word_weights_bag(struct word_weights *weights, uint64_t sid, struct bag *ret_bag)
{
    struct bag bag = {0};
    int r = topics_get(weights->topics, weights->epoch.epoch, sid, &bag);
    if (r == 0)
        r = look_up(weights, &bag);
    if (r == 0) {
        weigh(weights, &bag);
        r = bag.n_words ? bag_normalise(&bag, BAG_WHOLE) : 0;
    }
    if (r < 0)
        bag_done(&bag);
    else
        *ret_bag = bag;
    return r;
}
