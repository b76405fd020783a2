/* Stars: each node stands with a centre that it resembles by at least the threshold, and no two
 * centres that share a key do (CENTER; Haveliwala, Gionis, Indyk 2000, section 3.4); and which
 * components are to be divided into them. A node is a class of documents of one text; other texts
 * may have an equal sketch.
 *
 * Components of resembling pairs run on: a chain of versions, or pages that share a frame, joins
 * documents that have nothing in common. A component is loose when its nodes resemble its first one
 * by order too little on average. The order is by a hash of the sketch: so that node is any of
 * them, it depends on the documents alone, and one that is inserted into a component of n is the
 * first with a probability of 1 in n.
 */
#ifndef KINFS_ENGINE_CLUSTER_STARS_H
#define KINFS_ENGINE_CLUSTER_STARS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/sketch/minima/min_sketch.h"

enum {
    STARS_LOOSE_LEAST = 4,   /* nodes of a loose component: three, of which two resemble the next by
                                t, resemble any of them by t on average (1, t and 2t - 1) */
    STARS_MOST_CENTRES = 64, /* that a node is compared with for one key */
    STARS_NONE = UINT32_MAX,
};

/* The place of a sketch among others: a hash of all of it. */
uint64_t stars_order(const struct min_sketch *sketch);

/* The nodes of a component, and their resemblances to the first, its own of 1 among them. */
struct stars_looseness {
    uint64_t n_nodes, sum; /* sum: in units of 2^-32, so that it does not depend on their order */
};

/* One more. Returns 0 or an error of min_sketch_resemblance(). */
int stars_add_node(struct stars_looseness *looseness, const struct min_sketch *first,
                   const struct min_sketch *node);
/* They are loose where the resemblances are below this share of the threshold on average: 0.4 at
 * 0.5 (docs/decisions/0053-loose-clusters-are-divided.md has the figures). */
#define STARS_LOOSE_SHARE 0.8
bool stars_are_loose(const struct stars_looseness *looseness, double threshold);

struct stars_options {
    double threshold;
    uint32_t n_keys; /* nodes are compared that share one of so many smallest values */
    bool first; /* a node stands with the first centre that it may; else with the one it resembles
                   most, of such the first */
};

struct stars;
int stars_new(const struct stars_options *options, struct stars **ret_stars); /* 0, -ENOMEM */
void stars_free(struct stars *stars);                                         /* NULL allowed */

/* The sketch of a node that was placed before; valid until the next call. 0, -ENOENT (no other is
 * to stand with it) or an error. */
typedef int (*stars_read_fn)(void *user, uint32_t node, struct min_sketch *ret_sketch);

/* Place the next node, 0 at first: with a centre before it, or as one. In this order, or as
 * centres are to be chosen. Returns 0, -ENOMEM, an error of min_sketch_resemblance() or of read().
 * At most n_keys * STARS_MOST_CENTRES comparisons; 4 bytes, a centre 40 for each key. */
int stars_place(struct stars *stars, const struct min_sketch *sketch, stars_read_fn read,
                void *user);

/* The centre of a node that was placed; its own number where it is one. */
uint32_t stars_centre(const struct stars *stars, uint32_t node);

#endif
