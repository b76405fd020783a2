/* Bags of some topics, by which it is known of pairs how similar they are. */
#ifndef KINFS_TESTS_BENCH_TOPICS_SAMPLE_H
#define KINFS_TESTS_BENCH_TOPICS_SAMPLE_H

#include <pthread.h>

#include "engine/topic/bags/bag.h"
#include "engine/topic/near/relations.h"

enum { SAMPLE_SIMILARITIES = 8 }; /* from 0.1, 0.15, .. on */

struct sampled_bag {
    uint32_t node, topic;
    struct bag bag;
};

/* Of zeroes, but for the mutex. */
struct topics_sample {
    pthread_mutex_t mutex;
    struct sampled_bag *bags;
    size_t n, most;
};

void sample_done(struct topics_sample *sample);
/* Keeps a copy. Any threads. Returns 0, -ENOMEM. */
int sample_add(struct topics_sample *sample, uint32_t node, uint32_t topic, const struct bag *bag);
/* Counts pairs of one topic by their exact similarity, and those that the relations have. Returns
 * 0, an error of relations_of(). */
int sample_check(struct topics_sample *sample, struct relations *relations,
                 uint64_t pairs[SAMPLE_SIMILARITIES], uint64_t found[SAMPLE_SIMILARITIES]);

#endif
