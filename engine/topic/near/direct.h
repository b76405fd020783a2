/* Nodes near to one bag at a time, without any pairs: the places of all draws are in memory, and
 * those of a bag are looked up. The same is found as near_find() finds, to the bit, and of bags
 * that are not among the nodes, too.
 *
 * It takes some 1,240 bytes a node with 125 draws: for collections of a million, and for asking
 * seldom. One thread.
 */
#ifndef KINFS_ENGINE_TOPIC_NEAR_DIRECT_H
#define KINFS_ENGINE_TOPIC_NEAR_DIRECT_H

#include "engine/topic/near/near.h"

struct direct;

/* options  the first ones of near_options, without memory and threads
 * Returns 0, -EINVAL, -ENOMEM, an error of scratch_file_read(); gives; the signatures are not
 * needed any more. */
int direct_new(struct signatures *signatures, const struct near_options *options,
               struct direct **ret_direct);
void direct_free(struct direct *direct);
DEFINE_CLEANUP(struct direct *, direct_free);

/* Nodes near to a node, the nearest first, as relations from it. Returns how many; the relations
 * are valid until the next call. */
size_t direct_of(struct direct *direct, uint32_t node, const uint64_t **ret_relations);
/* The same of any bag, which comes behind all nodes; relation_from() says nothing. */
size_t direct_near(struct direct *direct, const struct bag_sketch *sketch,
                   const uint64_t **ret_relations);

/* The same as direct_of(), for centres_on_the_fly() and centres_two_steps(). */
int64_t direct_ask(void *direct, uint32_t node, const uint32_t **ret_near);

#endif
