/* Which clusters are in long posting lists, of either tier. To join the clusters it belongs to a
 * document needs one neighbour of each, and a list of very many documents that resemble each other
 * is of one cluster or of a few.
 *
 * A *digest* of a list vouches for this and no more: each live document of the list is named in it,
 * or is in one of the clusters in it. So a document that has reached those clusters, and was
 * compared with what is named, need not read the list. A digest is made from a list that was read,
 * and kept true by what is told here; what a digest of fixed size cannot hold has none. In memory,
 * and only of the lists last asked for. The committer's.
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_LONG_LISTS_H
#define KINFS_ENGINE_INDEX_POSTINGS_LONG_LISTS_H

#include "engine/index/tables/membership.h"
#include "engine/index/postings/postings.h"
#include "engine/sketch/minima/min_sketch.h"

/* Some 1.1 KB a digest, of which there are 4,096 at most. Documents of a list that is of more
 * clusters would mostly have to be compared one by one anyway. */
enum { DIGEST_CLUSTERS = 32, DIGEST_EXAMPLES = 2, DIGEST_NAMED = 32 };

struct digest {
    enum postings_tier tier;
    uint64_t fingerprint;
    unsigned n_clusters, n_named;
    uint64_t clusters[DIGEST_CLUSTERS];
    /* Documents of the list in each: what to compare with first. 0: none; may be dead. */
    uint64_t examples[DIGEST_CLUSTERS][DIGEST_EXAMPLES];
    uint64_t named[DIGEST_NAMED];
};

struct long_lists;

/* long_from  length from which a list is worth a digest (0: 256). Returns 0, -ENOMEM. */
int long_lists_new(size_t long_from, struct long_lists **ret_lists);
void long_lists_free(struct long_lists *lists);

/* NULL: read the list. Valid until the next learning. */
struct digest *long_lists_find(struct long_lists *lists, enum postings_tier tier,
                               uint64_t fingerprint);

/* A list was read: all its sids. Makes a digest where it is long, or makes the one there is anew.
 * Returns 0 or an error, also where it got none. */
int long_lists_learn(struct long_lists *lists, struct membership *membership,
                     enum postings_tier tier, uint64_t fingerprint, const struct sid_list *list);
/* Whether learning a list of this length would be of use. */
bool long_lists_wants(const struct long_lists *lists, enum postings_tier tier, uint64_t fingerprint,
                      size_t length);

/* A *common* list, of tier R, is long and of more clusters than a digest has room for: what two
 * documents have in common that have its fingerprint is most often no more than that.
 *
 * Returns 1 where it is known to be, 0 where it is not or nobody knows. */
enum { LONG_LISTS_COMMON_FROM = POSTINGS_PIECE };
int long_lists_is_common(struct long_lists *lists, uint64_t fingerprint);
/* The first documents of a list longer than that, which has no digest: notes whether it is common.
 * Returns whether it is, or an error. */
int long_lists_judge(struct long_lists *lists, struct membership *membership, uint64_t fingerprint,
                     const struct sid_list *first);

/* Put the named into the clusters they are in meanwhile, as their latest examples. */
int digest_tidy(struct long_lists *lists, struct digest *digest, struct membership *membership);
/* A document of the list, in a cluster, to be compared with first. */
void digest_promote(struct digest *digest, uint64_t cluster, uint64_t sid);
void digest_remove_named(struct digest *digest, uint64_t sid);
int digest_sids(const struct digest *digest, struct sid_vector *sids); /* appends all; 0, -ENOMEM */

/* What happens elsewhere. A document got postings; all of a cluster moves into another; a part of a
 * cluster leaves it; anything may have happened. A document that is gone changes nothing. */
void long_lists_posted(struct long_lists *lists, uint64_t sid, const struct min_sketch *sketch);
void long_lists_joined(struct long_lists *lists, uint64_t from, uint64_t to);
void long_lists_split(struct long_lists *lists, uint64_t cluster);
/* Documents of a cluster move into another one. */
void long_lists_moved(struct long_lists *lists, uint64_t from, uint64_t to);
void long_lists_forget(struct long_lists *lists);

#endif
