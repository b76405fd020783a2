/* Directories that mirror each other, wholly or in part, by the documents they have in common.
 *
 * A document anywhere below the first of two directories, neither of which is below the other, is
 * common when there is one like it anywhere below the second, and the other way round. The share is
 * that of the common documents in all of the two. As in
 *
 *    pub/           100 documents            share of pub and backup/pub    200/200 = 1
 *    backup/pub/    copies of all 100        share of pub and backup        200/290 = 0.69
 *    backup/own/    90 others
 *
 * many pairs of directories have a large share because of the same documents: pub and backup, and
 * all that corresponds within pub and backup/pub. One of them says it all. With `least` the
 * smallest share that counts, the worth of a pair is
 *
 *    common documents of both - least * all documents of both
 *
 * which is not negative when the share is `least` or more, grows with a directory that is added on
 * both sides as long as that is mirrored by so much itself, and shrinks with one that is not: at
 * 0.5 it is 100 for pub and backup/pub, 55 for pub and backup, and less for all below. Two pairs
 * overlap when each directory of the one is a directory of the other, in it, or above it. The pair
 * of the greatest worth is reported, and none that overlaps it, and so on with the next; of equal
 * worth the one of fewer documents, then the one further down, so that a directory with nothing in
 * it but another is not named for that, then the one of the first directory by number. So of two
 * documents that are alike one pair at most says so.
 *
 * Cost: linear in the pairs of directories that have a document in common, and sorting those that
 * are worth it: what overlaps one that is reported is marked once, and not gone through again. What
 * is in very many directories is not counted at all (alike.h), so that these pairs are not the
 * square of them. Left out: more than two directories (each is reported with each); one that is
 * mirrored by several others together. */
#ifndef KINFS_TOOLS_COMMANDS_PAIRS_MIRRORS_H
#define KINFS_TOOLS_COMMANDS_PAIRS_MIRRORS_H

#include "tools/commands/pairs/directory_pairs.h"

enum { MIRRORS_UNITS = 10000 };

struct mirrors_least {
    uint32_t share;       /* in 1/MIRRORS_UNITS */
    uint32_t n_documents; /* that must be common, of each of the two; 1 at least */
};

struct mirror_side {
    uint32_t directory;
    uint32_t n_documents, n_common; /* but those that are ALIKE_OUT or ALIKE_COMMON */
    uint64_t common_bytes;
};
struct mirror {
    struct mirror_side sides[2]; /* the smaller number first */
};

/* Those with most common documents of both first; then by share, then by numbers. ret_mirrors
 * gives. Returns 0 or as directory_pairs_count(), which takes most of the time and memory. */
int mirrors_find(const struct directory_pairs_input *input, const struct mirrors_least *least,
                 struct mirror **ret_mirrors, size_t *ret_n);

#endif
