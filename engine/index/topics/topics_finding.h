/* Which documents are about the same: the topics of all bags of one moment, by the batch of
 * Haveliwala, Gionis and Indyk 2000 (engine/topic/near/), and the sub-topics that they are made of.
 * Anyone's. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_TOPICS_FINDING_H
#define KINFS_ENGINE_INDEX_TOPICS_TOPICS_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/index/tables/number_vector.h"
#include "store/kv.h"

/* Documents of a sub-topic resemble its centre by so much, and sub-topics of a topic the sub-topic
 * in its middle, as far as 80 signatures tell. */
#define SUBTOPICS_RESEMBLANCE 0.2
#define TOPICS_RESEMBLANCE 0.1
/* The pairs that are compared agree in two signatures of one of these draws (near/draws.h). */
enum { TOPICS_DRAWS = 60, TOPICS_OF_A_DRAW = 2, TOPICS_SEED = 2000 };
/* A sum of bags has many light words: it is flattened to so many elements for each of its 100. */
enum { TOPICS_SUM_SCALE = 8 };

struct topics_finding_task {
    struct kv *kv;       /* that does not change meanwhile, a snapshot; borrowed, like all of it */
    const char *scratch; /* directory for what does not fit into memory */
    const bool *stop;    /* NULL: never */
    /* all zero before: the documents that have a bag, ascending; and by their places the smallest
     * place of the topic of each, its own when it is alone, and likewise of its sub-topic, all of
     * which is in one topic */
    struct number_vector sids;
    uint32_t *topics, *subtopics;
};

/* Depends on the bags alone. Memory: some 40 bytes a document, and 160 MiB where they are very
 * many. Returns 0, -ESHUTDOWN (stopped), -ENOMEM, -E2BIG, -ENOSPC and other errors of scratch
 * files, -EUCLEAN, -EAGAIN or an error of the store; end with topics_finding_done() in any case. */
int topics_find(struct topics_finding_task *task);
void topics_finding_done(struct topics_finding_task *task);

#endif
