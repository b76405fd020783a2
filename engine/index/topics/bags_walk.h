/* The bags of all documents, ascending by sid, of what their words are to be: their own, what
 * others say of them in an epoch, or both, added up. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_BAGS_WALK_H
#define KINFS_ENGINE_INDEX_TOPICS_BAGS_WALK_H

#include "engine/index/tables/bags.h"
#include "engine/index/tables/table_walk.h"
#include "engine/index/topics/topics.h"

struct bags_walk {
    struct bags_of {
        bool wanted, has;
        struct table_walk walk;
        uint64_t sid; /* has: of the next row; so its bag */
        struct bag bag;
    } content, anchors;
    uint32_t epoch;
};

enum { BAGS_WALK_MOST_WORDS = 2 * BAGS_MOST_WORDS }; /* of a bag */

/* contents: the store that the documents' own are read in. anchors: that in which what others say
 * is; epoch: of it. Returns 0, -ENOMEM, -EUCLEAN or a store error. */
int bags_walk_begin(struct bags_walk *walk, enum topics_kind kind, struct kv *contents,
                    struct kv *anchors, uint32_t epoch);
/* Returns 1 with the next bag that has words, 0 at the end, or an error; ret_bag gives. */
int bags_walk_next(struct bags_walk *walk, uint64_t *ret_sid, struct bag *ret_bag);
void bags_walk_done(struct bags_walk *walk); /* of zeroes, too */

#endif
