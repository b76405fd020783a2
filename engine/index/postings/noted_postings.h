/* The notes that the deltas have of the posting lists of one query: which sids were added and which
 * removed. Of one thread; collecting is done under the lock of the deltas.
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_NOTED_POSTINGS_H
#define KINFS_ENGINE_INDEX_POSTINGS_NOTED_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/index/postings/postings_delta.h"
#include "engine/index/tables/number_vector.h"

struct noted_posting;

/* The notes of list i are notes[begin[i]] to notes[begin[i + 1]]. */
struct noted_postings {
    struct noted_posting *notes;
    size_t n_notes, capacity, n_lists, at, most;
    size_t *begin;
    bool *removals; /* whether list i has any */
};

/* n_lists  posting lists that will be collected. Returns 0, -ENOMEM; done in any case. */
int noted_postings_init(struct noted_postings *noted, size_t n_lists);
void noted_postings_done(struct noted_postings *noted);

/* Collect the next list: what is noted of a fingerprint in deltas, the newest delta first (NULL: is
 * none). most: of a list of more than so many notes no others are collected; 0: all are.
 * Returns 0, -ENOMEM. */
int noted_postings_collect(struct noted_postings *noted, uint64_t fingerprint,
                           const struct postings_delta *const deltas[], size_t n_deltas,
                           size_t most);

/* Notes of list i, the same posting counted as often as it was noted. */
size_t noted_postings_count(const struct noted_postings *noted, size_t i);

/* After the last: let the latest note of a sid stand for all of them. */
void noted_postings_settle(struct noted_postings *noted);
/* Then: append the sids that are added to list i. Returns 0, -ENOMEM. */
int noted_postings_take_added(const struct noted_postings *noted, size_t i,
                              struct number_vector *sids);
/* A sid in the store is removed from list i, by a note. */
bool noted_postings_hide(const struct noted_postings *noted, size_t i, uint64_t sid);

#endif
