/* Which nodes are near which, sorted: for each pair u v and v u, by the first node, then from the
 * nearest on. The file answers what is near to a node by one look or two ("What's Related",
 * Haveliwala, Gionis and Indyk 2000, section 5).
 */
#ifndef KINFS_ENGINE_TOPIC_NEAR_RELATIONS_H
#define KINFS_ENGINE_TOPIC_NEAR_RELATIONS_H

#include "engine/cluster/large/scratch_file.h"
#include "engine/cluster/large/spill.h"

enum { RELATION_NODE_BITS = 28, RELATIONS_STEP = 512 };

/* u | 255 - agreeing | v: sorted as numbers, the nearest of u come first, of them the least. */
static inline uint64_t relation_of(uint32_t u, uint32_t v, unsigned agreeing)
{
    return (uint64_t)u << (64 - RELATION_NODE_BITS) |
           (uint64_t)(255 - agreeing) << RELATION_NODE_BITS | v;
}

static inline uint32_t relation_from(uint64_t relation)
{
    return (uint32_t)(relation >> (64 - RELATION_NODE_BITS));
}

static inline uint32_t relation_to(uint64_t relation)
{
    return (uint32_t)relation & ((1u << RELATION_NODE_BITS) - 1);
}

/* How many of the signatures compared agree. */
static inline unsigned relation_agreeing(uint64_t relation)
{
    return 255 - (relation >> RELATION_NODE_BITS & 255);
}

struct relations {
    struct scratch_file file;
    uint64_t n;
    uint64_t *firsts; /* the first of each RELATIONS_STEP */
};

void relations_done(struct relations *relations); /* of zeroes, too */

/* Reads those from a number on. Returns 0, an error of scratch_file_read(). Any threads. */
int relations_read(struct relations *relations, uint64_t from, size_t n, uint64_t *ret_relations);

/* Nodes near to a node, the nearest first: as many as `most` are written. Returns how many there
 * are, an error of scratch_file_read(). Any threads. */
int64_t relations_of(struct relations *relations, uint32_t node, uint64_t *ret_relations,
                     size_t most);

/* -- making -- */

struct relations_sorting {
    struct spill *spill; /* partition i before partition i + 1 */
    uint32_t n_partitions;
    const char *scratch;
    size_t room_bytes; /* of a thread */
    unsigned n_threads;
    const bool *stop;
};

/* Sorts a spill, which is used up. Returns 0, -ENOMEM, -ECANCELED, an error of scratch files; adds
 * to the counts; ret_relations gives. */
int relations_sort(const struct relations_sorting *sorting, struct relations *ret_relations,
                   double *cpu_s, uint64_t *read_bytes, uint64_t *written_bytes);

#endif
