/* When two documents are joined in a clustering: decided by their sketches alone. */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_EDGE_RULE_H
#define KINFS_ENGINE_INDEX_CLUSTERS_EDGE_RULE_H

#include <stdbool.h>

#include "engine/sketch/min_sketch.h"

enum { SUPER_VALUES = 84, SUPER_RUN = 14 };

struct edge_rule {
    double resemblance; /* at least; 1: nobody, as who is equal is of one class */
    double containment; /* or one of them contained in the other by at least this, in the same
                           way; 0: no matter */
    bool super_shingle; /* instead: one super shingle in common, SUPER_RUN values in a row of the
                           SUPER_VALUES smallest of each (Broder et al. 1997, section 5.3) */
};

/* Whether there is an edge between two documents; symmetric. Documents without shingles have none.
 * Returns 1, 0 or -EPROTO (sketches of two policies). Any thread; a merge of the two sketches. */
int edge_rule_holds(const struct edge_rule *rule, const struct min_sketch *a,
                    const struct min_sketch *b);

#endif
