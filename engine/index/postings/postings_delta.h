/* A delta is what was added to and removed from one tier of postings since the last flush, in
 * memory. A log: what is noted later about the same posting counts, so that noting needs no search.
 * It has no lock: its owner's is held for noting and visiting (postings_private.h, passages.c).
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_POSTINGS_DELTA_H
#define KINFS_ENGINE_INDEX_POSTINGS_POSTINGS_DELTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct postings_delta;

/* n_expected  notes the hash is made for; more make it slower only
 * Returns 0, -ENOMEM. */
int postings_delta_new(size_t n_expected, struct postings_delta **ret_delta);
void postings_delta_free(struct postings_delta *delta);

size_t postings_delta_count(const struct postings_delta *delta); /* notes, repeated ones too */

/* sid is below 2^63. Returns 0, -ENOMEM. */
int postings_delta_note(struct postings_delta *delta, uint64_t fingerprint, uint64_t sid,
                        bool removed);

/* Calls visit for all notes of a fingerprint, the latest first, until it returns non-zero, and
 * returns that, or 0. */
int postings_delta_visit(const struct postings_delta *delta, uint64_t fingerprint,
                         int (*visit)(void *user, uint64_t sid, bool removed), void *user);

/* All postings noted, sorted by fingerprint and sid, each once with its latest state. Takes 16
 * bytes a note while it exists, and as many while it is made: without these a posting that came and
 * went costs a look at all later notes of its fingerprint. The delta must not change meanwhile. */
struct postings_run {
    const struct postings_delta *delta;
    struct posting *postings;
    size_t n_postings, at;
    bool is_latest_last; /* of the notes of a posting */
};
int postings_run_init(struct postings_run *run, const struct postings_delta *delta); /* -ENOMEM */
void postings_run_rewind(struct postings_run *run);
bool postings_run_next(struct postings_run *run, uint64_t *ret_fingerprint, uint64_t *ret_sid,
                       bool *ret_removed);
/* A run has postings of a fingerprint, and the smallest sid is given that it has of it. */
bool postings_run_smallest(const struct postings_run *run, uint64_t fingerprint, uint64_t *ret_sid);
void postings_run_done(struct postings_run *run);

#endif
