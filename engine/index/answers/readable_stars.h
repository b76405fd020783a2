/* A component of documents that a caller may read, as the clusters it is where it is loose
 * (engine/cluster/stars.h). */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_READABLE_STARS_H
#define KINFS_ENGINE_INDEX_ANSWERS_READABLE_STARS_H

#include "engine/index/answers/readable_cluster.h"

/* Set the star of each member. Returns 0, -ENOMEM or an error of min_sketch_resemblance(). */
int readable_stars_find(struct readable_cluster *component, double threshold);

#endif
