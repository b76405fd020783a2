/* The bags of all documents at one moment, weighed by how many of them have a word, and made to sum
 * to 100 (Haveliwala, Gionis and Indyk 2000, section 2; tables/bags.h has which words weigh
 * nothing). What a word weighs depends on the bags of that moment alone. In bounded memory and
 * scratch files; one thread, anyone's. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_WEIGHED_BAGS_H
#define KINFS_ENGINE_INDEX_TOPICS_WEIGHED_BAGS_H

#include <stdbool.h>

#include "engine/index/topics/topics.h"
#include "engine/topic/bags/bag.h"

struct weighed_bags {
    enum topics_kind kind; /* of words: documents' own, what others say of them, or both */
    struct kv *kv;         /* that does not change meanwhile, a snapshot; borrowed, like all here */
    struct kv *anchors;    /* that in which is what others say */
    uint32_t epoch;        /* of what they say */
    const char *scratch;   /* directory for what does not fit into memory */
    const bool *stop;
    /* Each document that has a row, ascending, also one without words. NULL: not wanted */
    int (*row)(void *user, uint64_t sid);
    /* Each word that weighs something, with its df, ascending, before the first bag. NULL likewise
     */
    int (*word)(void *user, uint64_t word, uint64_t df);
    /* Each bag in which a word is left, in no order of sids */
    int (*bag)(void *user, uint64_t sid, const struct bag *bag);
    void *user;
    uint64_t n_bags; /* 0 before: with words */
};

/* Bags are counted, and told of by row(). Returns 0, -ESHUTDOWN (stopped),
 * -EAGAIN (the store was opened anew), -EUCLEAN, -ENOMEM, a store error, or what row() returned.
 */
int weighed_bags_begin(struct weighed_bags *bags);
/* Once. Returns as above, also -ENOSPC and other errors of scratch files, or what word() or bag()
 * returned. Linear: each word of a bag is sorted twice. */
int weighed_bags_each(struct weighed_bags *bags);

/* The memory that is worth giving to what is made of so many bags. */
size_t weighed_bags_memory(uint64_t n_bags);

#endif
