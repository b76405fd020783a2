/* A tally of how often each of some documents came: a set of sids, or of other numbers but 0, with
 * a number for each. Of one thread. */
#ifndef KINFS_ENGINE_INDEX_TABLES_SID_TALLY_H
#define KINFS_ENGINE_INDEX_TABLES_SID_TALLY_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialised; ends with sid_tally_done(). Open addressing, 16 bytes a slot, at most half of
 * them full. */
struct sid_tally {
    struct {
        uint64_t sid; /* 0: empty */
        uint32_t n;
    } * slots;
    size_t n_slots, n_sids;
};
void sid_tally_done(struct sid_tally *tally);

/* The number of a sid that is not 0, 0 when it is new; valid until the next call. NULL: no memory.
 */
uint32_t *sid_tally_of(struct sid_tally *tally, uint64_t sid);
/* The same without adding it; NULL: it never came. */
const uint32_t *sid_tally_find(const struct sid_tally *tally, uint64_t sid);

#endif
