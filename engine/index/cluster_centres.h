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
 * neighbours of who became a centre, and the members of who is one no more. The committer's.
 */
#ifndef KINFS_ENGINE_INDEX_CLUSTER_CENTRES_H
#define KINFS_ENGINE_INDEX_CLUSTER_CENTRES_H

#include "engine/index/cluster_intent.h"
#include "engine/index/neighbours.h"

/* A document came that is the first of its class.
 *
 * not_with  a document that is taken not to be there; 0: none
 *
 * Returns 0, -ENOMEM, -EUCLEAN or a store error; then it can be repeated. One query of the postings
 * and a comparison with each centre among the candidates; where it becomes a centre a comparison
 * with each candidate besides, and the former for those that lose their centre to it. */
int cluster_centres_insert(const struct graph *graph, uint64_t sid, const struct record *record,
                           uint64_t not_with);

/* What is to be done when documents go that leave no twin: adds to an intent the clusters they
 * leave and who goes where. Changes nothing.
 *
 * leaving  ascending; some may be in no cluster
 *
 * Returns as above. Nothing is asked of the postings but where a centre goes: then that of the
 * above for each of its members. */
int cluster_centres_plan_delete(const struct graph *graph, const struct sid_vector *leaving,
                                struct cluster_intent *intent);

#endif
