/* Postings: for each fingerprint, which documents have it. Tier R is of the POSTINGS_TIER_R_KEYS
 * smallest fingerprints of a document (two documents of resemblance r share none of 16 with
 * probability (1-r)^16), tier C of all of V. Those of V that are in tier R are not stored twice:
 * who asks in tier C is answered out of both.
 *
 * Derived data: new postings and removals live in a delta in memory and reach the store as sorted
 * runs; after a crash the documents since the last flush are simply added again
 * (living_clusters_recover()). A document that is gone is recognised by its missing record, so a
 * posting left behind does no harm.
 *
 * Key in the store: fingerprint (8, big endian) | sid (8, big endian), no value.
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_POSTINGS_H
#define KINFS_ENGINE_INDEX_POSTINGS_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/cluster/pairs/links_bounds.h"
#include "engine/index/postings/list_cache.h"
#include "engine/sketch/minima/min_sketch.h"
#include "store/kv.h"

enum { POSTINGS_TIER_R_KEYS = LINKS_KEYS };
enum postings_tier { POSTINGS_TIER_R, POSTINGS_TIER_C, POSTINGS_N_TIERS };

struct postings;

/* tables        the store's tables of tier R and C
 * flush_after   postings in the delta at which postings_flush_due() says so; 0, in tests: 2^20. The
 *               index gives FLUSH_AFTER (index_opening.c)
 * Returns 0, -ENOMEM; ret_postings gives, kv is borrowed. */
int postings_open(struct kv *kv, const unsigned tables[POSTINGS_N_TIERS], size_t flush_after,
                  struct postings **ret_postings);
void postings_close(struct postings *postings); /* drops the delta: flush before */

/* Writers: one thread at a time (the committer); readers at any time beside it. What is in tier R
 * of the store is read bit by bit by postings_add(), which from then on knows, in some 20 bits a
 * fingerprint, which ones the store need not be asked for. */
int postings_add(struct postings *postings, uint64_t sid, const struct min_sketch *sketch);
int postings_remove(struct postings *postings, uint64_t sid, const struct min_sketch *sketch);

/* Announce that postings of a sketch are to come, which has values. Returns whether one of the same
 * sketch may have been posted or announced before: false is certain. The writer's; 0.5 us. */
bool postings_announce(struct postings *postings, const struct min_sketch *sketch);

/* The most that is known of lists of tier R without looking into the store: that nobody was ever
 * posted in one, or nobody but one. Of a sketch's at most. The writer's; some 50 ns each. */
enum postings_most { POSTINGS_NONE, POSTINGS_ONE, POSTINGS_ANY };
void postings_at_most(const struct postings *postings, const uint64_t *fingerprints, size_t n,
                      enum postings_most *ret_most);

bool postings_flush_due(const struct postings *postings);
/* Write the delta into the store as sorted runs. On failure the delta stays as it is, and the call
 * can be repeated. Answers are the same before, while and after. Any one thread, also beside the
 * writer, whose postings then wait for the next flush. Returns 0, -ENOMEM or a store error. */
int postings_flush(struct postings *postings);

/* Sids that may share a fingerprint with the sketch, ascending, unique, dead ones among them. */
struct sid_list {
    uint64_t *sids;
    size_t n_sids;
};
void sid_list_done(struct sid_list *list);

/* The number of a sketch's fingerprints that are asked for in a tier; they are its first ones. */
size_t postings_tier_keys(enum postings_tier tier, const struct min_sketch *sketch);
/* Those that a tier's table has rows of: from ret_first on, up to its keys. Returns how many. */
size_t postings_tier_rows(enum postings_tier tier, const struct min_sketch *sketch,
                          size_t *ret_first);

/* The documents that have one of some fingerprints, ascending ones.
 *
 * most         lists of more are left out, of which no more than one piece is read; 0: none is;
 *              at most POSTINGS_PIECE. In tier C of each of its two lists by itself
 * ret_lengths  NULL, or for each fingerprint how many postings were read for it: its documents and
 *              some that are counted twice or are gone; of a list left out more than `most`
 *
 * Returns, and costs, what postings_candidates() does. */
enum { POSTINGS_PIECE = 256 };
int postings_with(struct postings *postings, enum postings_tier tier, const uint64_t *fingerprints,
                  size_t n_fingerprints, size_t most, struct sid_list *ret_list,
                  size_t *ret_lengths);

/* The first documents that have a fingerprint, the oldest: the first `most` of those the store has,
 * and all that were added since it was written to (in tier C the first `most` of both of its lists
 * together). What was read of a list longer than a piece stays in memory (first_postings.h, up to
 * 32 MiB): again it costs 2 ns a document, where the store takes 0.2 us. Any thread.
 * Returns what postings_candidates() does. */
int postings_first(struct postings *postings, enum postings_tier tier, uint64_t fingerprint,
                   size_t most, struct sid_list *ret_list);

/* The beginning of a list of tier R, its first LIST_CACHE_MOST sids or all. The writer's; it stays
 * in memory (list_cache.h, up to 160 MiB): again it costs 50 ns. Valid until the writer's next
 * call. Returns what postings_candidates() does. */
int postings_list(struct postings *postings, uint64_t fingerprint, struct posting_list *ret_list);

/* All candidates of a sketch in a tier. Returns 0, -ENOMEM or a store error. Any thread; one
 * multi_scan of up to 16 (tier R) or |V| (tier C) short ranges, repeated for long lists. */
int postings_candidates(struct postings *postings, enum postings_tier tier,
                        const struct min_sketch *sketch, struct sid_list *ret_list);

#endif
