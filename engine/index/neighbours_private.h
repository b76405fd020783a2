/* What neighbours.c and neighbours_tier_c.c share. */
#ifndef KINFS_ENGINE_INDEX_NEIGHBOURS_PRIVATE_H
#define KINFS_ENGINE_INDEX_NEIGHBOURS_PRIVATE_H

#include "engine/index/neighbours.h"

/* Compare a document with candidates, as far as they are wanted. */
int neighbours_compare(const struct graph *graph, const struct min_sketch *sketch,
                       const struct sid_list *candidates, neighbour_wanted_fn wanted,
                       neighbour_found_fn found, void *user, struct sid_vector *dead);
/* Documents that are not in the clustering yet are nobody's neighbours, and in no digest. */
void neighbours_keep_linked(const struct graph *graph, struct sid_list *list);

/* -- neighbours_tier_c.c: what is left to be found when tier R has been asked, of rules by which
 * there is any; as neighbours_find() and neighbours_reach() -- */
int neighbours_find_by_tier_c(const struct graph *graph, const struct min_sketch *sketch,
                              neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                              struct sid_vector *dead);
int neighbours_reach_by_tier_c(const struct graph *graph, const struct min_sketch *sketch,
                               neighbour_wanted_fn wanted, neighbour_found_fn found, void *user,
                               struct sid_vector *dead);

#endif
