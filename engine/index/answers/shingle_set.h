/* All shingles of a document that is asked for its parts, read again for the question: a sketch has
 * one in m of them, in which a short part may have none. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_SHINGLE_SET_H
#define KINFS_ENGINE_INDEX_ANSWERS_SHINGLE_SET_H

#include "engine/index/answers/answer.h"
#include "engine/index/extract/sketching.h"
#include "engine/index/tables/number_vector.h"

/* Most shingles that are taken, those that come again counted: a million words, a long novel and a
 * half, in 8 MiB, and as much again while they are sorted. */
enum { SHINGLE_SET_MAX = 1 << 20 };

/* Zero-initialised; ends with shingle_set_done(). */
struct shingle_set {
    struct number_vector fingerprints; /* ascending, unique, once it is finished */
    size_t n_taken;
    int error;
    bool is_over;                    /* there were more, and it is empty */
    const struct index_query *query; /* shingle_set_read() */
};
void shingle_set_done(struct shingle_set *set);

/* Take the shingles of what is sketched next, of one document. */
void shingle_set_collect(struct shingle_set *set, struct sketching *sketching);
/* When that is read. Returns 1: all are there; 0: they were too many; -ENOMEM. */
int shingle_set_finish(struct shingle_set *set);

/* Read those of a document of the tree. Nothing of it is told that is not of the record in hand: by
 * its fingerprint the content that was read is the record's.
 *
 * Returns 1; 0 when it cannot be had: too long, also unpacked, for an extractor, not to be read
 * now, or another content by now; -EINTR (stopped), -ENOMEM or a store error. Any thread; reads the
 * file, a tenth of a second for a megabyte of words. */
int shingle_set_read(struct index *index, const struct document *document,
                     const struct index_query *query, struct shingle_set *set);

/* The documents that may have parts of themselves among the shingles: those of which one of the 16
 * smallest fingerprints is there. What is contained by c is missed with (1-c)^16, what is whole
 * never, however short.
 *
 * Ascending, unique, dead ones among them. Returns 0, -EINTR, -ENOMEM or a store error. Any thread;
 * 50 ns a shingle where the filter of fingerprints is complete, else 1.5 us, and what the lists
 * have, 0.2 us a document of each. */
int shingle_set_candidates(const struct shingle_set *set, struct postings *postings,
                           const struct index_query *query, struct sid_list *ret_list);

#endif
