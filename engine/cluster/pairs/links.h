/* Links: from lists of documents that share a fingerprint to clusters. Two documents of a list are
 * joined when their sketches resemble each other, and compared only when they are not in one
 * cluster already.
 *
 * Literally (pair_counts.h) a list of n documents makes n^2/2 pairs, and nearly all of them repeat
 * that two documents of one cluster resemble each other. Here a list whose documents are all in one
 * set costs a look at each; in any other list each pair from two sets is compared, until the two
 * are one. The pairs that are compared depend on the order; the sets at the end do not, as a pair
 * that is left out would have joined documents that are joined. Any number of threads, any order
 * and any amount of memory therefore give the same clusters.
 *
 * In a list longer than most_compared all documents are compared with n_heads of it only, the
 * first ones. So the clusters depend on the order of numbers where such a list is all that holds
 * two documents together, and on nothing else.
 */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_LINKS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_LINKS_H

#include "engine/cluster/pairs/key_lists.h"
#include "engine/cluster/pairs/list_counts.h"
#include "engine/cluster/pairs/sketch_file.h"
#include "engine/cluster/large/union_find.h"

struct link_totals {
    struct list_counts counts;
    double sort_cpu_s; /* reading and sorting; the rest is comparing */
};

struct linking {
    struct spill *keys;
    struct spill *pairs; /* NULL: documents are joined; else none is, and the pairs are put here
                            (resembling_pairs.h), of documents of different sets */
    const struct sketch_file *sketches; /* NULL: all of a list are joined without comparing */
    struct union_find *sets;
    const uint64_t *nodes;
    unsigned number_bits, n_threads;
    double threshold;   /* 1: no pair reaches it: equal documents are joined already */
    double containment; /* as batch_options has it; 0: none */
    uint32_t most_compared, n_heads;
    uint32_t most_held;        /* links_most_held() */
    struct scratch_file *runs; /* for partitions that do not fit into a room; used by nobody else */
    size_t room_bytes;         /* of a thread, for a partition; SORTED_LEAST_BYTES at least */
    size_t sketch_bytes;       /* of a thread, for sketches that are read from the file */
    size_t refused_bytes;      /* to remember pairs that do not resemble each other */
    void (*progress)(void *user, uint32_t done, uint32_t of); /* by the caller's thread; or NULL */
    void *user;
    const bool *stop; /* as batch_options has it: the rest is left out */
};

/* The most documents that those of a list are compared with. */
static inline uint32_t links_most_held(uint32_t most_compared, uint32_t n_heads)
{
    return most_compared > n_heads ? most_compared : n_heads;
}

/* The most memory that a thread takes beside room_bytes and sketch_bytes, and a writer of pairs. */
uint64_t links_thread_bytes(uint32_t most_held, size_t longest_sketch_bytes);

/* Returns 0, -ENOMEM, an error of reading or writing a scratch file. The spill is used up. */
int links_join(const struct linking *linking, struct link_totals *ret_totals, double *cpu_s);

#endif
