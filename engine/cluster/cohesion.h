/* The cohesion of a cluster tells how well it hangs together. Resemblance is not transitive:
 * components of resembling pairs may be chains whose ends have nothing in common (the run-on
 * mistake). Three things show it: the resemblances of all pairs, the longest path by links, and the
 * weakest links, at which the cluster would fall apart first if the threshold rose. These are edges
 * of a maximum spanning tree (Prim). */
#ifndef KINFS_ENGINE_CLUSTER_COHESION_H
#define KINFS_ENGINE_CLUSTER_COHESION_H

#include <stddef.h>
#include <stdint.h>

enum { COHESION_LINKS = 5, COHESION_NODES_MAX = 1 << 14 };

struct cohesion_link {
    uint32_t a, b; /* nodes */
    double resemblance;
    uint64_t n_beyond; /* members on b's side of the link */
};

struct cohesion {
    uint64_t n_pairs; /* of members */
    double min, mean; /* resemblance of the pairs; 1 where there are none */
    double linked;    /* share of the pairs at or above the threshold */
    uint32_t n_parts,
        diameter; /* by links at or above it: components; most links of a shortest path */
    size_t n_links;
    struct cohesion_link links[COHESION_LINKS]; /* of the spanning tree, weakest first */
};

/* Returns 0 with the resemblance of two nodes, or an error. */
typedef int (*cohesion_pair_fn)(void *user, uint32_t a, uint32_t b, double *ret_resemblance);

/* weights  the number of members that each node stands for, which resemble each other with 1; none
 *          is 0
 *
 * Returns 0, -EINVAL (no node, or too many), -ENOMEM, or the error of pair, which is asked for each
 * pair of nodes once, in no certain order. n^2/8 bytes, and n^3/64 steps. */
int cohesion_measure(size_t n_nodes, const uint32_t *weights, double threshold,
                     cohesion_pair_fn pair, void *user, struct cohesion *ret_cohesion);

#endif
