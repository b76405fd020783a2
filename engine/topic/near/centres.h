/* Clusters of nodes that are near each other: each cluster is a centre and nodes near to it, and no
 * two centres are near each other (CENTER of Haveliwala, Gionis and Indyk 2000, section 5). The
 * centres are the lexicographically first maximal independent set: a node is one unless a lesser
 * one that is near to it is. So they depend on what is near alone, and all ways give the same, to
 * the bit.
 *
 * All use one thread, and 4 bytes a node, the caller's.
 */
#ifndef KINFS_ENGINE_TOPIC_NEAR_CENTRES_H
#define KINFS_ENGINE_TOPIC_NEAR_CENTRES_H

#include "engine/topic/near/relations.h"

/* Nothing is near to the node: it is in no cluster. */
#define CENTRES_NONE UINT32_MAX

/* One read of all relations.
 *
 * least_agreeing  relations of less are passed over; 0: none
 * among           centres of an earlier call, with a greater least_agreeing: only those are nodes,
 *                 so that the clusters are those of clusters; or NULL
 * ret_centres     of each node the centre of its cluster, of a centre itself, or CENTRES_NONE
 * Returns 0, an error of relations_read(). */
int centres_scan(struct relations *relations, unsigned least_agreeing, const uint32_t *among,
                 uint32_t n_nodes, uint32_t *ret_centres);

/* Nodes near to a node, in any order, without the node. Returns how many, or an error;
 * ret_near is the user's, valid until the next call. */
typedef int64_t (*centres_ask)(void *user, uint32_t node, const uint32_t **ret_near);

/* The same by questions for the nodes alone that become centres or are in no cluster, as they come:
 * nothing is sorted. Returns 0, an error of ask. */
int centres_on_the_fly(uint32_t n_nodes, centres_ask ask, void *user, uint32_t *ret_centres);

/* The same with another order of the nodes: those that are near to most come first, of equal ones
 * the lesser. So a centre is near to many of those it might be near to, and clusters are larger.
 * Two reads of all relations, one of those of each centre, a sort. Returns 0, -ENOMEM, an error of
 * relations_read(). */
int centres_by_degree(struct relations *relations, uint32_t n_nodes, uint32_t *ret_centres);

/* C-LINK: a node is a centre unless a lesser centre is near to it or to one of those near to it,
 * and has both in its cluster: a strong stable set. Each node is in a cluster, alone if need be.
 * Where "near" is a distance of at most r and k balls of radius r cover all nodes, there are at
 * most k clusters, of radius 2r: with the least such r, found by halving, no more than twice the
 * least radius of any k (Hochbaum and Shmoys 1985). Returns 0, -ENOMEM, an error of ask. */
int centres_two_steps(uint32_t n_nodes, centres_ask ask, void *user, uint32_t *ret_centres);

#endif
