/* Components, divided into stars: each document stands with a centre that it resembles by at least
 * the threshold, and no two centres that share a key do.
 *
 * Components of resembling pairs run on: a chain of versions, or pages that share a frame, joins
 * documents that have nothing in common. A component whose documents resemble its largest one too
 * little on average is loose, and divided. In mode center all components are (Haveliwala, Gionis,
 * Indyk 2000, section 3.4).
 *
 * Depends on the documents of the component and the threshold alone, not on threads or memory, and
 * on numbers only where two sketches are equal.
 */
#ifndef KINFS_ENGINE_CLUSTER_LOOSE_H
#define KINFS_ENGINE_CLUSTER_LOOSE_H

#include "engine/cluster/pairs/sketch_file.h"
#include "engine/cluster/large/union_find.h"

/* A component is loose when its documents resemble its largest one by less than this share of the
 * threshold on average: by 0.4 at a threshold of 0.5. */
#define LOOSE_SHARE 0.8

enum {
    LOOSE_LEAST_NODES = 4,   /* three on a way: 1, t and at least 2t - 1 are never below 0.8 t */
    CENTER_LEAST_NODES = 3,  /* two are a star */
    LOOSE_MOST_CENTRES = 64, /* that a document is compared with for one key */
};

struct loose_dividing {
    const struct sketch_file *sketches;
    struct union_find *sets; /* components; those that are loose become their stars */
    const uint64_t *nodes;   /* a bit a document: the first of those of equal shingles */
    bool center;     /* all components; centres are those with most shingles, and a document stands
                        with the first of those it may. Else loose ones; centres are in the order of
                        overlap_filter_rank(), and a document stands with the one it resembles most */
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
 * threads of its own. Cost: a read of each sketch of a component of LOOSE_LEAST_NODES nodes or
 * more, and in a loose one at most n_keys * LOOSE_MOST_CENTRES comparisons for each node; 4.25
 * bytes a document. */
int loose_divide(const struct loose_dividing *dividing, struct loose_counts *ret_counts,
                 double *cpu_s);

#endif
