/* What the parts of the world have of each other. */
#ifndef KINFS_TESTS_LIB_HISTORIES_CLUSTER_WORLD_PRIVATE_H
#define KINFS_TESTS_LIB_HISTORIES_CLUSTER_WORLD_PRIVATE_H

#include "tests/lib/histories/cluster_world.h"

/* Something new, or something made of a document that is there. */
struct world_document *world_write(struct world *world, const struct world_document *like);

/* Whether a stands before b in a cluster: more tokens, then content, then file key. */
bool world_before(const struct record *a, const struct record *b);

#endif
