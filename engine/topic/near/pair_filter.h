/* Which candidate pairs agree in enough of their signatures, by the lowest byte of each
 * (Haveliwala, Gionis and Indyk 2000, section 4). */
#ifndef KINFS_ENGINE_TOPIC_NEAR_PAIR_FILTER_H
#define KINFS_ENGINE_TOPIC_NEAR_PAIR_FILTER_H

#include "engine/topic/near/candidates.h"

struct pair_filter {
    struct signatures *signatures;
    const struct pair_parts *parts;
    struct spill *pairs;     /* is used up */
    struct spill *relations; /* both directions, as relation_of() has them; partition: the first
                                node >> relation_shift */
    unsigned relation_shift;
    unsigned n_compared, least_agreeing;
    const char *scratch;
    size_t room_bytes; /* of a thread: SORTED_LEAST_BYTES at least */
    unsigned n_threads;
    const bool *stop;
};

struct pair_filter_totals {
    uint64_t n_different, n_kept;
    uint64_t read_bytes, written_bytes;
};

/* Beside room_bytes and the writers of relations it takes n_compared bytes for each node of two
 * segments, or of the only one. Returns 0, also when told to stop; -ENOMEM, an error of scratch
 * files. */
int pair_filter_run(const struct pair_filter *filter, struct pair_filter_totals *ret_totals,
                    double *cpu_s);

#endif
