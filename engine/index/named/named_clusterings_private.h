/* The struct that the parts of named_clusterings.h share: each is some of the work of the
 * committer. */
#ifndef KINFS_ENGINE_INDEX_NAMED_NAMED_CLUSTERINGS_PRIVATE_H
#define KINFS_ENGINE_INDEX_NAMED_NAMED_CLUSTERINGS_PRIVATE_H

#include "engine/index/clusters/living_clusters.h"
#include "engine/index/named/named_clusterings.h"

/* -- removing (named_clusterings_removal.c) -- */

/* Some rows of one that is not wanted any more; there is one. 0 or a store error. */
int named_clusterings_remove_some(struct named_clusterings *named);

/* -- making anew (named_clusterings_remaking.c) -- */

/* A clustering is to be made anew; arguments as of named_clusterings_has_work(). */
bool named_clusterings_is_due(const struct named_clusterings *named, bool rests, bool wanted);
/* Begins with one that is due, or goes on with one whose batch is ready. 0 or a store error; where
 * there is no room for the batch, that is told, and it stays as it was. */
int named_clusterings_remake_some(struct named_clusterings *named, bool rests, bool wanted);

#endif
