/* What the parts of the world have of each other. */
#ifndef KINFS_TESTS_LIB_CLUSTER_WORLD_PRIVATE_H
#define KINFS_TESTS_LIB_CLUSTER_WORLD_PRIVATE_H

#include "tests/lib/cluster_world.h"

/* Something new, or something made of a document that is there. */
struct world_document *world_write(struct world *world, const struct world_document *like);

/* component[i]: the smallest document i is connected with, for live ones. */
void world_components_by(const struct world *world, const struct edge_rule *rule,
                         unsigned *component);

/* Whether a stands before b in a cluster: more tokens, then content, then file key. */
bool world_before(const struct record *a, const struct record *b);

/* As in a cluster of the clustering: where it has centres by the order of nodes first. */
bool world_before_in(const struct world_named *named, const struct record *a,
                     const struct record *b);

#endif
