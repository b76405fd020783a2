/* Posting lists of tier R that are of one cluster, as most are that have more than one document:
 * what they say is said by one document of them, and they need not be read. (Long lists, of several
 * clusters, have digests: long_lists.h.)
 *
 * A note of a list is a document of it, and vouches for this: all live documents that have postings
 * in the list are in one cluster with it, but for a few *strays*, which are named. Made from lists
 * that were read, kept true by what is told here, in memory and bounded: what was not asked for
 * lately is forgotten. The committer's.
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_SHORT_LISTS_H
#define KINFS_ENGINE_INDEX_POSTINGS_SHORT_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct short_lists;

enum { SHORT_LISTS_STRAYS = 3 };

/* max_bytes  0: 256 MiB. What is used grows with the lists, some 24 to 48 bytes each, and 32 more
 * of those with strays, up to an eighth of it besides. Returns 0, -ENOMEM. */
int short_lists_new(size_t max_bytes, struct short_lists **ret_lists);
void short_lists_free(struct short_lists *lists);

/* What is known of a list will be asked for: fetch it from memory meanwhile. */
void short_lists_expect(const struct short_lists *lists, uint64_t fingerprint);

/* The document of a list, or 0: nothing is known. Only if short_lists_vouches() for the cluster
 * that it is in now is the list of this cluster. */
uint64_t short_lists_find(struct short_lists *lists, uint64_t fingerprint);
bool short_lists_vouches(struct short_lists *lists, uint64_t fingerprint, uint64_t cluster);

/* The strays of a list that is found. Returns how many. */
size_t short_lists_strays(struct short_lists *lists, uint64_t fingerprint,
                          uint64_t ret_strays[SHORT_LISTS_STRAYS]);

/* All documents of a list are in this cluster, one of them is sid; but for up to SHORT_LISTS_STRAYS
 * that are elsewhere, or may be. Forgotten without memory. */
void short_lists_learn(struct short_lists *lists, uint64_t fingerprint, uint64_t sid,
                       uint64_t cluster, const uint64_t *strays, size_t n_strays);
/* A document that is elsewhere comes into a list. Where there is no room the list is dropped. */
void short_lists_stray(struct short_lists *lists, uint64_t fingerprint, uint64_t sid);
void short_lists_drop(struct short_lists *lists, uint64_t fingerprint);

/* What happens elsewhere: a part of a cluster leaves it, or all of it goes into another; anything
 * may have happened. */
void short_lists_split(struct short_lists *lists, uint64_t cluster);
void short_lists_forget(struct short_lists *lists);

#endif
