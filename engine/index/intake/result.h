/* Results go from the workers to the committer: a document each that a worker is done with. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_RESULT_H
#define KINFS_ENGINE_INDEX_INTAKE_RESULT_H

#include <sys/queue.h>
#include <sys/stat.h>

#include "engine/index/catalogue/catalogue.h"
#include "engine/index/queue/change_queue.h"
#include "engine/index/tables/record.h"

/* A document a worker is done with; the committer owns it from then on. */
enum outcome {
    OUTCOME_SKETCHED,
    OUTCOME_GONE,
    OUTCOME_NAMELESS, /* left out, or its name is not known yet; it was not read */
    OUTCOME_FAILED,
    OUTCOME_SAME, /* with other extractors it would be read as it was */
};

struct result {
    STAILQ_ENTRY(result) next;
    struct change *change;
    enum outcome outcome;
    struct record record; /* OUTCOME_SKETCHED */
    uint8_t *passages;    /* of it, passage_sketch_encode(); NULL: none are wanted, or known */
    size_t passages_bytes;
    uint8_t *bag; /* of it, bags_encode(); NULL: likewise */
    size_t bag_bytes;
    uint8_t *fragments; /* of it, as tables/fragments.h has them; NULL: likewise */
    size_t fragments_bytes;
    bool racy;
    uint64_t sid;                    /* OUTCOME_SAME: of the row that was looked at */
    uint32_t extractors_id, read_by; /* OUTCOME_SKETCHED, _SAME and _FAILED, of its row */
    int error; /* OUTCOME_FAILED: negative errno; or, with a reason, of no meaning */
    char reason[FILE_ROW_REASON_BYTES]; /* OUTCOME_FAILED; "": the error's */
    struct stat st;                     /* OUTCOME_SKETCHED; _FAILED, when it could be asked for */
};

STAILQ_HEAD(result_list, result);

struct index;
struct name_look; /* reconcile.h */

enum { RESULTS_AT_ONCE = 64 }; /* go into the store together */

/* Take results, at most RESULTS_AT_ONCE, or looks of listers, at most RECONCILE_AT_ONCE, in the
 * order in which they were handed over; who waits to hand over goes on. Returns how many. The
 * committer's. */
size_t results_take(struct index *index, struct result **ret_results);
size_t results_take_looks(struct index *index, struct name_look **ret_looks);
void result_free(struct result *result);
/* Free results and looks that were not taken, when no thread runs any more: their changes go with
 * the queue, and the next start finds them. */
void results_drop(struct index *index);

#endif
