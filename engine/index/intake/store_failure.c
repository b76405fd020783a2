#include "engine/index/intake/store_failure.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/intake/scan/scan_sets.h"

/* The store is given up for good: who waits for a scan is told, and nothing is tried again. */
static void store_is_damaged(struct index *index)
{
    messages_log(
        &index->messages, INDEX_LOG_ERROR,
        "store %s is damaged; unmount and run `kinfs check --repair %s` (the documents are "
        "served as ever, but not sketched)",
        index->store_path, index->source);
    scan_done(index);
    directory_removal_done(index);
    {
        LOCKED(&index->lock);
        index->damaged = true;
        index->scanning = index->rescan_wanted = index->clusterings_pending = false;
        owner_stacks_done(&index->wanted);
        pthread_cond_broadcast(&index->background_changed);
    }
}

void store_failure_meet(struct index *index, int error)
{
    if (error == -ESHUTDOWN) /* the queue's: the index is being closed */
        return;
    atomic_fetch_add(&index->n_failed, 1);
    if (index->store_error == -EUCLEAN)
        return;
    index->store_error = error;
    if (error == -EUCLEAN) {
        store_is_damaged(index);
        return;
    }
    index->resume_at_ms = clock_now_ms() + index->resume_after_ms;
    index_rescan(index);
    if (*index->failure)
        return;
    snprintf(index->failure, sizeof(index->failure),
             "store %s: %s; documents are not sketched until it can be written again (they are "
             "served as ever)",
             index->store_path, strerror(-error));
    messages_log(&index->messages, INDEX_LOG_ERROR, "%s", index->failure);
}

int store_failure_resume(struct index *index)
{
    int r = kv_resume(index->kv);
    if (r == 0)
        r = commit_recover(index);
    if (r == 0) /* a note that failed may have come into the store all the same */
        r = directory_removal_recover(index);
    if (r == 0)
        r = meta_put_number(index->kv, "sid_end", index->sid_end);
    if (r == 0 && index->counts.lost)
        r = document_counts_recount(&index->counts);
    if (r < 0)
        return r;
    index->counts.lost = false;
    index->store_error = 0;
    index->whole_scan.next_at_ms = 0;
    id_map_done(&index->unwritten);
    atomic_store(&index->n_unwritten, 0); /* the scan that begins now finds and counts them */
    return 0;
}

void store_failure_tell_end(struct index *index)
{
    if (!*index->failure || index->store_error || !scan_is_over(index) ||
        !directory_removal_is_idle(index) || change_queue_outstanding(index->queue, LANE_SCAN))
        return;
    {
        LOCKED(&index->lock);
        if (index_is_rescan_wanted(index) || !owner_stacks_are_empty(&index->wanted))
            return;
    }
    messages_over(&index->messages, index->failure);
    *index->failure = '\0';
    messages_log(&index->messages, INDEX_LOG_INFO, "store %s can be written again",
                 index->store_path);
}
