/* The beginnings of long posting lists, those asked for last, as the store has them: reading one of
 * 16,384 documents takes 0.2 us a document out of the store's pages, and 2 ns from here.
 *
 * A *first list* holds all sids that the store has of a list, from its first one to its own last
 * one. It is true however long the list gets, since sids grow; a run that changes what it covers
 * has it dropped. What is only noted in memory is not in it.
 *
 * Memory: as differences, a byte or two a document; bounded, also in number, what was asked for
 * least recently goes. Any thread; one lock, held for look-ups and while a run is compared with all
 * there are (some milliseconds), never over a store call.
 */
#ifndef KINFS_ENGINE_INDEX_POSTINGS_FIRST_POSTINGS_H
#define KINFS_ENGINE_INDEX_POSTINGS_FIRST_POSTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/index/postings/postings.h"

struct first_postings;

/* max_bytes  of all first lists; of one, a 64th of it. Returns 0, -ENOMEM. */
int first_postings_new(size_t max_bytes, struct first_postings **ret_first);
void first_postings_free(struct first_postings *first); /* all readings have ended */

/* The number of changes of the store. Asked before a list is read, its notes being collected. */
uint64_t first_postings_changes(struct first_postings *first);

/* A reading of a first list. Without one it is at its end at once, and the list goes on from sid 0.
 */
struct first_reading {
    struct first_list *list; /* or NULL */
    const uint8_t *at, *end;
    uint64_t next_sid; /* of the list from here on nothing was read */
    bool ends;         /* where the first list ends the list does */
};
void first_postings_read(struct first_postings *first, enum postings_tier tier,
                         uint64_t fingerprint, struct first_reading *ret_reading);
bool first_reading_next(struct first_reading *reading, uint64_t *ret_sid); /* false: at its end */
void first_reading_done(struct first_reading *reading);

/* Lists that have a first one, and so more than POSTINGS_PIECE postings in the store. */
void first_postings_have(struct first_postings *first, enum postings_tier tier,
                         const uint64_t *fingerprints, size_t n, bool *ret_have);

/* A reading that is at its end, of what the store had, ascending. Is kept if all in all it is more
 * than POSTINGS_PIECE and the store was not changed since.
 *
 * changes  of before the reading
 * ends     there was no more
 */
void first_postings_keep(struct first_postings *first, uint64_t changes, enum postings_tier tier,
                         uint64_t fingerprint, const struct first_reading *reading,
                         const uint64_t *sids, size_t n_sids, bool ends);

/* A tier's table was changed: called when it is, while the changes are still noted as well, for
 * who reads meanwhile.
 *
 * smallest  whether a list was changed, and which is the smallest sid put or deleted in it
 */
typedef bool (*first_postings_smallest_fn)(void *user, uint64_t fingerprint, uint64_t *ret_sid);
void first_postings_changed(struct first_postings *first, enum postings_tier tier,
                            first_postings_smallest_fn smallest, void *user);

#endif
