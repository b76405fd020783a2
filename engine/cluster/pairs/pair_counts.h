/* Broder's third and fourth phase to the letter: each list of <shingle, document> is expanded to
 * <ID, ID> pairs, these are sorted and counted, and pairs whose counts give the resemblance asked
 * for join their clusters (Broder et al. 1997, section 4). Lists longer than `cap` are left out as
 * too common (section 5.1): a cluster of more near-identical documents than that loses all its
 * pairs. Lists that are left out are counted. */
#ifndef KINFS_ENGINE_CLUSTER_PAIRS_PAIR_COUNTS_H
#define KINFS_ENGINE_CLUSTER_PAIRS_PAIR_COUNTS_H

#include "engine/cluster/pairs/key_lists.h"
#include "engine/cluster/pairs/list_counts.h"
#include "engine/cluster/pairs/pair_file.h"
#include "engine/cluster/pairs/sketch_file.h"
#include "engine/cluster/large/union_find.h"

enum { PAIR_PARTITION_BITS = 10, PAIR_PARTITIONS = 1 << PAIR_PARTITION_BITS };

struct pair_totals {
    struct list_counts counts;
    double sort_cpu_s, expand_cpu_s, merge_cpu_s;
    double expand_wall_s, merge_wall_s; /* that of sorting is in the first */
};

/* A document's |V|, and in the lowest bit whether its V is that of another modulus (V_i); the sizes
 * are then counted from the sketches. */
static inline uint32_t pair_size(uint32_t n_v, bool is_other_modulus)
{
    return n_v << 1 | is_other_modulus;
}

struct pairing {
    struct spill *keys;        /* postings of all values of V */
    struct spill *pairs;       /* empty; records of 8 bytes, PAIR_PARTITIONS */
    struct pair_file *counted; /* where to put counted pairs; NULL: nowhere */
    const uint32_t *sizes;     /* pair_size(), by document */
    const struct sketch_file
        *sketches; /* read for documents of another modulus, and all that share with them */
    struct union_find *sets;
    const uint64_t *nodes;
    unsigned number_bits;
    uint32_t cap;
    struct scratch_file *runs; /* for partitions that do not fit into a room; used by nobody else */
    unsigned n_threads;
    size_t room_bytes; /* of a thread, for a partition; SORTED_LEAST_BYTES at least */

    double threshold;
    void (*progress)(void *user, uint32_t done, uint32_t of); /* by the caller's thread; or NULL */
    void *user;
    const bool *stop; /* as batch_options has it: the rest is left out */
};

/* Lists to pairs, then pairs to clusters; counts are added to the totals. Each may have its own
 * threads and room. Return 0, -ENOMEM, an error of scratch_file.h. The first uses the keys up, the
 * second the pairs. */
int pairs_expand(const struct pairing *pairing, struct pair_totals *totals);
int pairs_merge(const struct pairing *pairing, struct pair_totals *totals);

/* The most memory that a thread takes beside room_bytes: when it expands, with the writer of pairs
 * not counted, and when it merges. */
uint64_t pairs_expand_bytes(uint32_t cap);
uint64_t pairs_merge_bytes(size_t longest_sketch_bytes);

#endif
