/* When two documents are joined in a clustering: decided by their sketches alone. */
#ifndef KINFS_ENGINE_INDEX_EDGE_RULE_H
#define KINFS_ENGINE_INDEX_EDGE_RULE_H

#include "engine/sketch/min_sketch.h"

struct edge_rule {
    double resemblance; /* at least */
};

/* Whether there is an edge between two documents; symmetric. Documents without shingles have none.
 * Returns 1, 0 or -EPROTO (sketches of two policies). Any thread; a merge of the two sketches. */
int edge_rule_holds(const struct edge_rule *rule, const struct min_sketch *a,
                    const struct min_sketch *b);

#endif
