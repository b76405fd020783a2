/* The planted link graph: which target a link has, and the words around it, by numbers alone.
 * Of 128 targets in a row 64 are of one topic, 32 of another, then 16, 8 and 8. Of ten words of a
 * link eight are of its topic, one of its target, one of the whole language, the frequent ones
 * oftener. */
#ifndef KINFS_TESTS_BENCH_TOPICS_GRAPH_H
#define KINFS_TESTS_BENCH_TOPICS_GRAPH_H

#include <stdint.h>

#include "base/mix.h"

enum { GRAPH_LINKS = 10, GRAPH_LINK_WORDS = 10, GRAPH_WORD_BITS = 36 };

struct graph_link {
    uint32_t target;
    uint64_t random; /* of its words */
};

static inline double graph_uniform(uint64_t random)
{
    return (double)(random >> 11) * 0x1p-53;
}

/* The i-th link of a page. Some targets have many links, most a few, some none. */
static inline struct graph_link graph_link(uint64_t seed, uint32_t page, unsigned i,
                                           uint32_t n_targets)
{
    uint64_t random = mix64(seed + page * (uint64_t)GRAPH_LINKS + i);
    double x = graph_uniform(mix64_next(&random));
    uint64_t rank = (uint64_t)(x * x * n_targets);
    return (struct graph_link){(uint32_t)(rank * 2654435761u % n_targets), random};
}

static inline uint32_t graph_topic(uint32_t target)
{
    uint32_t in_row = target % 128, topic = in_row < 64    ? 0
                                            : in_row < 96  ? 1
                                            : in_row < 112 ? 2
                                            : in_row < 120 ? 3
                                                           : 4;
    return target / 128 * 5 + topic;
}

static inline uint32_t graph_topics(uint32_t n_targets)
{
    return (n_targets / 128 + 1) * 5;
}

/* The next word of a link, of GRAPH_WORD_BITS bits. */
static inline uint64_t graph_word(struct graph_link *link)
{
    uint64_t random = mix64_next(&link->random), of = random % 10;
    double x = graph_uniform(mix64(random));
    uint64_t word = of < 8   ? (uint64_t)(x * x * 25) << 32 | graph_topic(link->target)
                    : of < 9 ? (uint64_t)(x * 8 + 50) << 32 | link->target
                             : (uint64_t)(x * x * x * 100000) << 40;
    return mix64(word + 1) >> (64 - GRAPH_WORD_BITS);
}

#endif
