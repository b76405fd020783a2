/* Loose components of a batch become their stars (stars.h); in mode center all components do.
 *
 * Depends on the documents of the component and the threshold alone, not on threads or memory, and
 * on numbers only where two sketches are equal.
 */
#ifndef KINFS_ENGINE_CLUSTER_LOOSE_H
#define KINFS_ENGINE_CLUSTER_LOOSE_H

#include "engine/cluster/pairs/sketch_file.h"
#include "engine/cluster/large/union_find.h"

enum { CENTER_LEAST_NODES = 3 }; /* two are a star */

struct loose_dividing {
    const struct sketch_file *sketches;
    struct union_find *sets; /* components; those that are loose become their stars */
    const uint64_t *nodes;   /* a bit a document: the first of those of equal shingles */
    bool center;     /* all components; centres are those with most shingles, and a document stands
                        with the first of those it may. Else loose ones; centres are in the order of
                        stars_order(), and a document stands with the one it resembles most */
    bool loose_only; /* loose components stay as they are, and the documents of all others are
                        alone */
    uint32_t n_keys; /* documents are compared that share one of so many smallest values */
    double threshold;
    unsigned n_threads;
    size_t sketch_bytes; /* of a thread, for sketches that are read from the file */
    const bool *stop;    /* as batch_options has it */
};

struct loose_counts {
    uint64_t n_components; /* that were divided */
    uint64_t n_documents;  /* in them */
    uint64_t n_alone;      /* of these, those that are in no cluster then */
};

/* Returns 0, -ENOMEM or an error of scratch_file_read(). Adds processor time to *cpu_s. Blocks;
 * threads of its own. Cost: a read of each sketch of a component of STARS_LOOSE_LEAST nodes or
 * more, and in a loose one at most n_keys * STARS_MOST_CENTRES comparisons for each node; 4.25
 * bytes a document. */
int loose_divide(const struct loose_dividing *dividing, struct loose_counts *ret_counts,
                 double *cpu_s);

#endif
