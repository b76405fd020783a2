/* Candidate pairs: nodes that agree in all signatures of a draw, of each draw. What the
 * first draw pairs comes once, another pair as often as draws find it. */
#ifndef KINFS_ENGINE_TOPIC_NEAR_CANDIDATES_H
#define KINFS_ENGINE_TOPIC_NEAR_CANDIDATES_H

#include "engine/cluster/large/spill.h"
#include "engine/topic/near/draws.h"

/* Where a pair of u < v goes: to a part for the segments of both nodes, in it to one by u. The
 * lowest bytes of a segment fit into the memory of the filter. */
struct pair_parts {
    uint32_t segment_nodes, n_segments; /* whole blocks of signatures, but for the last */
    unsigned shift;                     /* nodes of a part: 2^shift */
    uint32_t n_each;                    /* parts for two segments */
};

static inline uint32_t pair_parts_of(const struct pair_parts *parts, uint32_t a, uint32_t b)
{
    return (a * parts->n_segments - a * (a + 1) / 2 + b) * parts->n_each;
}

static inline uint32_t pair_part(const struct pair_parts *parts, uint32_t u, uint32_t v)
{
    if (parts->n_segments == 1)
        return u >> parts->shift;
    uint32_t a = u / parts->segment_nodes, b = v / parts->segment_nodes;
    return pair_parts_of(parts, a, b) + ((u - a * parts->segment_nodes) >> parts->shift);
}

struct candidate_search {
    struct signatures *signatures;
    const struct draws *draws;
    unsigned heads;
    const struct pair_parts *parts;
    struct spill *pairs; /* numbers, u << 32 | v with u < v; by pair_part() */
    const char *scratch;
    uint64_t thread_bytes; /* CANDIDATES_LEAST_BYTES at least; a writer of pairs comes to it */
    unsigned n_threads;
    const bool *stop;
};

enum { CANDIDATES_LEAST_BYTES = 2 << 20 };

struct candidate_totals {
    uint64_t n_candidates, n_shortened;
    uint32_t longest;
    uint64_t read_bytes, written_bytes;
};

/* Returns 0, also when told to stop; -ENOMEM, an error of scratch files. */
int candidates_find(const struct candidate_search *search, struct candidate_totals *ret_totals,
                    double *cpu_s);

#endif
