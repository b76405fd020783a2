/* CENTER (Haveliwala, Gionis and Indyk 2000): documents are looked at in an order; one that is the
 * neighbour of no centre before it is a centre, any other belongs to the first of its neighbours
 * that are centres. So no two centres are neighbours, each document is its centre's neighbour, and
 * the centres are the lexicographically first maximal independent set.
 *
 * The order is of the nodes of the graph, and depends on the documents alone: most distinct
 * shingles first, then by class (member.h). In a clustering that has centres members stand behind
 * each other in that order, so a cluster's representative is its centre.
 *
 * After a change only what it may concern is looked at again, in that order: who comes, the later
 * neighbours of who became a centre, and the members of who is one no more.
 *
 * Where these members are many they *wait* instead (cluster_repair.h), behind a place in the order:
 * as if they were not there, so that all others are at any time what is said above, of themselves.
 * They stay in their cluster meanwhile, and who would belong to the first of them waits with them.
 * They are taken in one after the other, some a step, like documents that come. The committer's.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_CENTRES_H
#define KINFS_ENGINE_INDEX_CLUSTERS_CLUSTER_CENTRES_H

#include "engine/index/clusters/cluster_intent.h"
#include "engine/index/clusters/neighbours.h"

/* A document came that is the first of its class.
 *
 * not_with  a document that is taken not to be there; 0: none
 *
 * Returns 0, -ENOMEM, -EUCLEAN or a store error; then it can be repeated. One query of the postings
 * and a comparison with each centre among the candidates; where it becomes a centre a comparison
 * with those behind it besides, as far as they have no centre before it, and the former for those
 * that lose their centre to it. */
int cluster_centres_insert(const struct graph *graph, uint64_t sid, const struct record *record,
                           uint64_t not_with);

/* Take in some nodes of a cluster that stand behind an order (NULL: all of it waits), at most
 * `most`. Returns how many; 0: there is none left; or an error, after which it can be repeated. The
 * former for each. */
int cluster_centres_take_in(const struct graph *graph, uint64_t cluster, const uint8_t *order,
                            size_t most);

/* What is to be done when documents go that leave no twin: adds to an intent the clusters they
 * leave and who goes where. Changes nothing but who waits.
 *
 * leaving  ascending; some may be in no cluster
 *
 * Returns as above. Nothing is asked of the postings but where a centre goes: then that of the
 * above for each of its members, as far as they do not wait. */
int cluster_centres_plan_delete(const struct graph *graph, const struct sid_vector *leaving,
                                struct cluster_intent *intent);

#endif
