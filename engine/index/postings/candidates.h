/* The documents to compare a document with that somebody asks about. They are candidates of another
 * definition than those by which clusters are made (clusters/neighbours.h): of a long list many
 * more than its heads are among them. */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_CANDIDATES_H
#define KINFS_ENGINE_INDEX_POSTINGS_CANDIDATES_H

#include "engine/index/postings/postings.h"

/* The candidates of a sketch in a tier, when the best `most` or fewer answers are wanted of those
 * that reach a threshold. Exactly which:
 *
 * - All documents of lists of POSTINGS_PIECE or fewer. As long as no list is longer: all there are.
 * - Of each longer list its first CANDIDATES_LIST documents are looked at (in tier C, of the first
 *   64 longer lists), and those in most of them taken: CANDIDATES_ENOUGH or twice `most`, whichever
 *   is more, and of those in CANDIDATES_IN or more lists CANDIDATES_OFTEN, if that is more. Of
 *   documents in equally many lists the oldest come first.
 * - Where CANDIDATES_KEYS or more lists are not longer and the threshold is at least 0.25, what is
 *   in one long list alone is passed over; at a resemblance of 0.4 that is one pair of 5,000.
 *
 * So the best answers are those of all candidates as long as no more than CANDIDATES_ENOUGH
 * documents are in such long lists, and none of these has more than CANDIDATES_LIST. Beyond that
 * they are the best of the likeliest: one that is missing shares what is rare with nobody who asks,
 * and of what very many have not more than those that were compared.
 *
 * most  0: all answers are wanted, and all candidates given
 *
 * Ascending, unique, dead ones among them. Returns 0, -ENOMEM or a store error. Any thread; one
 * multi_scan, and for a long list a few scans more, of up to four lists at once. */
enum {
    CANDIDATES_LIST = 16384,
    CANDIDATES_ENOUGH = 1024,
    CANDIDATES_OFTEN = 4096,
    CANDIDATES_IN = 4,    /* of sixteen: one in a hundred of those at 0.5 has fewer */
    CANDIDATES_KEYS = 12, /* lists that are short, to pass over what is in one long one only */
};
int candidates_for(struct postings *postings, enum postings_tier tier,
                   const struct min_sketch *sketch, double threshold, size_t most,
                   struct sid_list *ret_list);

/* The likeliest `most` candidates of a sketch in tier R, or fewer, whatever others there are: those
 * in most lists of fewer than CANDIDATES_FIRST documents, behind them those that come first in most
 * of the longer ones, of which as many are read; of equals the oldest. For who has many such
 * questions at once. Otherwise as candidates_for(). */
enum { CANDIDATES_FIRST = 4096 };
int candidates_likeliest(struct postings *postings, const struct min_sketch *sketch, size_t most,
                         struct sid_list *ret_list);

/* The number of shingles that a document must have so that what contains it whole is a candidate of
 * tier C with probability 0.99: each of them is a key with probability 1/modulus, so none of n is
 * with (1-1/modulus)^n; 113 for 25.
 *
 * modulus  of what may contain it (min_sketch_modulus()): the policy's m up to v_max * m shingles,
 *          102,400; of longer ones for each doubling twice as many. Of what is short its sketch
 *          holds more than one in m */
uint64_t candidates_certain_shingles(double modulus);

/* The resemblance from which on a candidate of tier R is one with probability 0.99: two documents
 * share none of their 16 keys with (1-r)^16 at most; 0.25, as far as two digits tell. */
double candidates_certain_resemblance(void);

#endif
