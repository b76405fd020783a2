/* Events of the past into the store, within bounds. An owner's rows make room for new ones of that
 * owner alone: of a document, or of a place, the first and the last events stay and of those
 * between the ones that are spread in time; of all the youngest. The committer's, and of
 * whoever opens, closes or rebuilds the index while it does not run, but for past_notes_since().
 *
 * Cost of an event: two scans of some rows of 30 bytes, but of lines that had one of late
 * (past_lines.h), and one write for all that come together and are of other documents and places.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_PAST_PAST_NOTES_H
#define KINFS_ENGINE_INDEX_INTAKE_PAST_PAST_NOTES_H

#include <stdatomic.h>

#include "engine/index/intake/past/past_lines.h"

enum {
    PAST_OWNER_MAX = 1 << 16,  /* of an owner: some 80 MB, 240 with the longest paths */
    PAST_TOTAL_MAX = 1 << 19,  /* of all; who has most gives */
    PAST_DELETED_AT_ONCE = 64, /* in a step */
    PAST_OWNERS_AT_ONCE = 64,  /* that a step looks at */
};
#define PAST_META_KEEP "keep_lost"

struct past_owner {
    uid_t uid;
    uint64_t n;
    uint64_t from_ns; /* there is no event before; 0: that is not known */
};

struct past_notes {
    struct kv *kv;
    atomic_uint_fast64_t keep_s; /* 0: nothing is noted, and what there is goes */
    struct past_owner *owners;   /* ascending */
    size_t n_owners, room;
    uint64_t n, owner_max, total_max;
    size_t line_max; /* PAST_LINE_MAX at most */
    struct past_lines lines;
    int64_t expire_at_ms; /* of clock_now_ms() */
    size_t turn;          /* of the owners, whose old events go next */
    size_t n_looked;      /* of these, one after the other, who had none that is too old */
};

/* keep_s: from now on, UINT64_MAX: as the store has it. Returns 0, -EUCLEAN, -ENOMEM or a store
 * error. */
int past_notes_open(struct past_notes *notes, struct kv *kv, uint64_t keep_s);
/* Reads anew how many events there are, which others than these functions have put. */
int past_notes_read(struct past_notes *notes);
void past_notes_done(struct past_notes *notes);

/* From when on events count, by the clock. Any thread. */
uint64_t past_notes_since(const struct past_notes *notes, uint64_t now_ns);

/* Put events, which are unchanged; one whose path is none is left out. Returns 0, -ENOMEM or a
 * store error. */
int past_notes_add(struct past_notes *notes, const struct past_event *events, size_t n);

/* A step: of some owners some events that are too old go. Returns 1 where it may be that there are
 * more, 0 when all owners were looked at, or an error. */
int past_notes_expire(struct past_notes *notes, uint64_t now_ns);

#endif
