/* The bags of documents as the lists of an epoch weigh them (topics/topics.h): what df those say is
 * looked up once for each word. Of one thread. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_TOPICS_WORD_WEIGHTS_H
#define KINFS_ENGINE_INDEX_ANSWERS_TOPICS_WORD_WEIGHTS_H

#include "engine/index/tables/id_map.h"
#include "engine/index/topics/topics.h"

struct word_weights {
    struct kv *kv; /* borrowed, as is: */
    struct topics *topics;
    struct topics_epoch epoch;
    struct id_map dfs; /* 0: the word weighs nothing */
};

/* Returns 0, or -ENODATA where words are not counted yet. */
int word_weights_begin(struct word_weights *weights, struct kv *kv, struct topics *topics);
void word_weights_done(struct word_weights *weights);

/* The weighed bag of a document, which sums to 100 unless it is empty. Returns 0, -ENOENT (it has
 * none), -EUCLEAN, -ENOMEM or a store error; ret_bag gives. */
int word_weights_bag(struct word_weights *weights, uint64_t sid, struct bag *ret_bag);

/* Other lists have come since, and words may have been missed. */
bool word_weights_are_over(const struct word_weights *weights);

#endif
