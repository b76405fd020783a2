/* Which documents to compare a document with that somebody asks about. */
#ifndef KINFS_ENGINE_INDEX_CANDIDATES_H
#define KINFS_ENGINE_INDEX_CANDIDATES_H

#include "engine/index/postings.h"

/* The candidates of a sketch in a tier, when the best `most` or fewer answers are wanted of those
 * that reach a threshold. As long as no posting list is longer than POSTINGS_PIECE: all of them.
 * Of longer lists some thousands are read, and those that are in most of them are taken, up to
 * CANDIDATES_ENOUGH or twice as many as are wanted, and of those that are in four or more
 * CANDIDATES_OFTEN; the documents of all shorter lists come besides. What is in none but one of few
 * long lists is passed over where the threshold is 0.25 or more.
 *
 * most  0: all answers are wanted, and all candidates given
 *
 * Ascending, unique, dead ones among them. Returns 1 when some were passed over, 0, -ENOMEM or a
 * store error. Any thread; one
 * multi_scan, and for a long list a few scans more. */
enum { CANDIDATES_ENOUGH = 1024, CANDIDATES_OFTEN = 4096 };
int candidates_for(struct postings *postings, enum postings_tier tier,
                   const struct min_sketch *sketch, double threshold, size_t most,
                   struct sid_list *ret_list);

#endif
