/* The committer: the one thread that changes the store.
 *
 * Its loop does what there is to do by rank: what others wait for first, then what a scan found,
 * clustering anew, and what only makes the store smaller. Each is done in steps of some
 * milliseconds, between which it looks what has come; give_turns() keeps the last from starving.
 * A store that fails is seen to in store_failure.h.
 *
 * It also sees to it that changes that are held back are taken up (lull.h).
 */
#include <errno.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/committer.h"
#include "engine/index/intake/directory_removal_step.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/intake/scan/scan_sets.h"
#include "engine/index/intake/scan/wanted_scan.h"
#include "engine/index/intake/snapshot.h"
#include "engine/index/intake/store_failure.h"
#include "engine/index/members/member_changes.h"

int committer_flush(struct index *index)
{
    uint64_t sid = index->last_sid;
    if (index->store_error) /* what derives from the last records may be missing */
        return index->store_error;
    int r = living_clusters_flush_postings(index->clusters);
    if (r == 0 && index->passages)
        r = passages_flush(index->passages);
    if (r == 0 && sid > index->derived_sid)
        r = meta_put_number(index->kv, "derived_sid", sid);
    if (r == 0)
        index->derived_sid = sid;
    return r;
}

/* A change of the store stands between these two: answers made meanwhile may be of both sides. */
static void begin_step(struct index *index)
{
    atomic_fetch_add(&index->generation, 1);
}

static bool clusterings_are_idle(const struct index *index)
{
    return named_clusterings_is_idle(&index->named) &&
           (!index->topics || topics_is_idle(index->topics));
}

/* Notes that a change of documents may have left a clustering to be made anew, before anybody is
 * told that the change is done. */
static void note_clusterings_pending(struct index *index)
{
    if (clusterings_are_idle(index))
        return;
    LOCKED(&index->lock);
    index->clusterings_pending = !index->damaged;
}

/* A step may have been the last that somebody waits for, whatever it has done. */
static void tell_settling(struct index *index)
{
    if (atomic_load(&index->n_settling) == 0)
        return;
    LOCKED(&index->lock);
    pthread_cond_broadcast(&index->background_changed);
}

static void end_step(struct index *index, int r)
{
    if (r < 0)
        store_failure_meet(index, r);
    note_clusterings_pending(index);
    member_changes_publish(index->changes, r >= 0);
    atomic_fetch_add(&index->generation, 1);
    tell_settling(index);
}

/* Each do_() returns whether there was something to do. */

/* Changes that were held back (lull.h) are taken up once users rest, and those that come after are
 * held back anew.
 */
static bool do_end_holding(struct index *index)
{
    uint64_t n_events = change_queue_count_notes(index->queue) + atomic_load(&index->n_uses);
    bool pending = change_queue_outstanding(index->queue, LANE_FOREGROUND) > 0;
    bool holding = change_queue_is_holding(index->queue);
    bool over = lull_look(&index->lull, pending, n_events, clock_now_ms());
    if (over && holding)
        change_queue_release(index->queue);
    if (!over && pending && !holding)
        change_queue_hold_again(index->queue);
    return over && holding;
}

static void reconcile(struct index *index, struct change *const *changes,
                      struct name_look *const *looks, size_t n)
{
    uid_t owners[RECONCILE_AT_ONCE];
    for (size_t i = 0; i < n; i++)
        owners[i] = RECONCILE_NOBODY;
    begin_step(index);
    end_step(index, index->store_error ? 0 : reconcile_entries(index, changes, looks, n, owners));
    for (size_t i = 0; i < n; i++) {
        if (owners[i] == RECONCILE_NOBODY)
            change_queue_done(index->queue, changes[i]);
        else
            change_queue_pass_on(index->queue, changes[i], owners[i], false);
    }
}

static bool do_looks(struct index *index)
{
    struct name_look *looks[RECONCILE_AT_ONCE];
    struct change *changes[RECONCILE_AT_ONCE];
    size_t n = results_take_looks(index, looks);
    for (size_t i = 0; i < n; i++)
        changes[i] = looks[i]->change;
    if (n)
        reconcile(index, changes, looks, n);
    for (size_t i = 0; i < n; i++)
        free(looks[i]);
    return n > 0;
}

static bool do_entries(struct index *index)
{
    struct change *changes[RECONCILE_AT_ONCE];
    size_t n = 0;
    while (n < RECONCILE_AT_ONCE &&
           change_queue_take(index->queue, CHANGE_ENTRY, false, &changes[n]) == 1)
        n++;
    if (n)
        reconcile(index, changes, NULL, n);
    return n > 0;
}

/* Counts each document once, however often it was written; but no more than some megabytes of
 * them. */
static void count_unwritten(struct index *index, struct result *const *results, size_t n)
{
    enum { COUNTED_MAX = 1 << 20 };
    struct id_map *unwritten = &index->unwritten;
    for (size_t i = 0; i < n && unwritten->places.n_sids < COUNTED_MAX; i++) {
        const uint64_t id = file_key_hash(&results[i]->change->key) | 1;
        if (id_map_find(unwritten, id) == ID_MAP_NONE)
            (void)id_map_add(unwritten, id, 0);
    }
    atomic_store(&index->n_unwritten, unwritten->places.n_sids);
}

/* Under the lock. Some are awaited, or as many are there as go into the store at once. */
static bool has_results(const struct index *index)
{
    return index->n_results >= RESULTS_AT_ONCE || index->results_are_awaited;
}

static bool results_are_due(struct index *index)
{
    LOCKED(&index->lock);
    return has_results(index);
}

/* The scan finds documents, or what it has found is being read, but for what is slow. */
static bool is_scanning(struct index *index)
{
    return !scan_is_over(index) || change_queue_outstanding(index->queue, LANE_SCAN) >
                                       change_queue_slow(index->queue, LANE_SCAN);
}

/* Of a scan that has brought more than there was, as a first one does, the clusters are made
 * behind. */
static int put_off(struct index *index)
{
    enum { LEAST = 256 };
    const uint64_t n = atomic_load(&index->counts.n_documents);
    return n > LEAST && n > 2 * index->documents_before && is_scanning(index)
               ? living_clusters_put_off(index->clusters)
               : 0;
}

static int commit(struct index *index, struct result *const *results, size_t n)
{
    int r = commit_results(index, results, n);
    return r < 0 ? r : put_off(index);
}

/* Fewer are taken once, where rested: there was nothing else to do for a while. */
static bool do_results(struct index *index, bool *rested)
{
    struct result *results[RESULTS_AT_ONCE];
    size_t n = *rested || results_are_due(index) ? results_take(index, results) : 0;
    *rested = false;
    if (n == 0)
        return false;
    begin_step(index);
    end_step(index, index->store_error ? 0 : commit(index, results, n));
    if (index->store_error)
        count_unwritten(index, results, n);
    for (size_t i = 0; i < n; i++) {
        change_queue_done(index->queue, results[i]->change);
        result_free(results[i]);
    }
    return true;
}

static bool is_flush_due(const struct index *index)
{
    return living_clusters_flush_due(index->clusters) ||
           (index->passages && passages_flush_due(index->passages));
}

static bool do_flush_postings(struct index *index)
{
    if (index->store_error || !is_flush_due(index))
        return false;
    int r = committer_flush(index);
    if (r < 0)
        store_failure_meet(index, r);
    return r == 0;
}

static bool is_stopping(struct index *index)
{
    LOCKED(&index->lock);
    return index->stop;
}

/* The scan runs ahead of the workers by this much; what is slow does not keep it from finding what
 * is not. Nor does it find more while as many as may be wait for their clusters. */
static bool is_ahead(struct index *index)
{
    enum { AHEAD_MAX = 4096 };
    const size_t n_slow = change_queue_slow(index->queue, LANE_SCAN);
    return living_clusters_due(index->clusters) == CLUSTERS_FULL ||
           change_queue_outstanding(index->queue, LANE_SCAN) > AHEAD_MAX + n_slow;
}

static bool do_removal(struct index *index)
{
    if (index->store_error || directory_removal_is_idle(index) || is_stopping(index))
        return false;
    begin_step(index);
    end_step(index, directory_removal_step(index));
    return true;
}

static bool do_scan(struct index *index)
{
    if (index->store_error || is_stopping(index) || is_ahead(index))
        return false;
    if (!is_scanning(index))
        index->documents_before = atomic_load(&index->counts.n_documents);
    int r = scan_take_wanted(index);
    if (r == 0 && scan_may_begin(index))
        r = wanted_scan_begin(index);
    const bool steps = r == 0 && scan_has_step(index);
    if (steps) {
        const int64_t begin_us = clock_now_us();
        begin_step(index);
        r = scan_step(index);
        end_step(index, r);
        const int64_t spent_us = clock_now_us() - begin_us;
        index->whole_scan.spent_us += spent_us;
        index->ruled_anew.spent_us += spent_us;
    } else if (r < 0) {
        store_failure_meet(index, r);
    }
    if (r < 0)
        scan_done(index);
    wanted_scan_tell(index);
    return steps;
}

/* A flood of one kind does not keep those of another waiting. */
static bool do_all_noted(struct index *index, bool *rested)
{
    const bool entries = do_entries(index), looks = do_looks(index);
    return do_results(index, rested) || looks || entries;
}

/* Clustering anew comes behind all other work: it may take long, and begins anew when its clusters
 * change. In a scan they change all the time, and most of what is done then is done again: a tenth
 * of the time is enough for what a scan without end would keep waiting. */
static bool do_recluster(struct index *index)
{
    enum { REST = 9, REST_OF_ALL = 20 }; /* times what a step has taken, or all of a run */
    enum { LATEST_US = 10000000 };
    if (index->store_error || living_clusters_n_dirty(index->clusters) == 0 || is_stopping(index))
        return false;
    const enum living_clusters_due due = living_clusters_due(index->clusters);
    const int64_t begin_us = clock_now_us();
    const bool scanning = due != CLUSTERS_FULL && is_scanning(index);
    if (scanning && due == CLUSTERS_LATER && index->place_at_us == 0)
        index->place_at_us = begin_us + LATEST_US;
    if (scanning &&
        begin_us < (due == CLUSTERS_LATER ? index->place_at_us : index->recluster_at_us))
        return false;
    begin_step(index);
    end_step(index, living_clusters_recluster(index->clusters));
    const int64_t end_us = clock_now_us();
    index->placing_us += end_us - begin_us;
    if (living_clusters_due(index->clusters) == CLUSTERS_LATER) {
        index->place_at_us = end_us + LATEST_US + REST_OF_ALL * index->placing_us;
        index->placing_us = 0;
    }
    index->recluster_at_us = end_us + REST * (end_us - begin_us);
    return true;
}

/* As many as may be put off come into their clusters before the scan finds more. */
static bool do_all_found(struct index *index)
{
    const bool removal = do_removal(index);
    const bool full = living_clusters_due(index->clusters) == CLUSTERS_FULL && do_recluster(index);
    return do_scan(index) || full || removal;
}

static void end_clusterings(struct index *index)
{
    LOCKED(&index->lock);
    index->clusterings_pending = false;
    pthread_cond_broadcast(&index->background_changed);
}

/* Nothing is known that will change documents. */
static bool is_at_rest(struct index *index)
{
    return change_queue_outstanding(index->queue, LANE_FOREGROUND) == 0 &&
           change_queue_outstanding(index->queue, LANE_SCAN) == 0 && scan_is_over(index) &&
           directory_removal_is_idle(index);
}

static bool has_clusterings_pending(struct index *index)
{
    LOCKED(&index->lock);
    return index->clusterings_pending;
}

/* Work that only brings a clustering, or lists of words, up to date with what is there of documents
 * comes last. */
static bool do_clusterings(struct index *index)
{
    const bool rests = is_at_rest(index), wanted = atomic_load(&index->n_settling) > 0;
    if (index->store_error || !has_clusterings_pending(index) || is_stopping(index))
        return false;
    const bool named = named_clusterings_has_work(&index->named, rests, wanted),
               topics = index->topics && topics_has_work(index->topics, rests, wanted);
    if (!named && !topics)
        return false;
    begin_step(index);
    end_step(index, named ? named_clusterings_step(&index->named, rests, wanted)
                          : topics_step(index->topics, rests, wanted));
    if (clusterings_are_idle(index))
        end_clusterings(index);
    return true;
}

/* It only makes rows fewer. */
static bool do_join_passages(struct index *index)
{
    if (index->store_error || !index->passages || !passages_join_due(index->passages) ||
        is_stopping(index))
        return false;
    int r = passages_join_some(index->passages);
    if (r < 0)
        store_failure_meet(index, r);
    return r == 0;
}

static bool do_damage(struct index *index)
{
    bool is_met;
    {
        LOCKED(&index->lock);
        is_met = index->damage_is_met;
        index->damage_is_met = false;
    }
    if (is_met)
        store_failure_meet(index, -EUCLEAN);
    return is_met;
}

/* Events that are too old go: looked for once a minute, or an hour where nothing happens, and then
 * until there is none. */
static bool do_expire_past(struct index *index)
{
    enum { EVERY_MS = 60000 };
    struct timespec now;
    if (index->store_error || clock_now_ms() < index->past.expire_at_ms || is_stopping(index))
        return false;
    clock_gettime(CLOCK_REALTIME, &now);
    int r = past_notes_expire(&index->past, file_row_ns(&now));
    if (r < 0)
        store_failure_meet(index, r);
    if (r <= 0)
        index->past.expire_at_ms = clock_now_ms() + EVERY_MS;
    return r > 0;
}

static bool do_resume(struct index *index)
{
    if (!index->store_error || index->store_error == -EUCLEAN ||
        clock_now_ms() < index->resume_at_ms)
        return false;
    begin_step(index);
    end_step(index, store_failure_resume(index));
    return true;
}

/* Sleeps until there is something to do, but not for ever: the scan lane drains without a word, and
 * events of the past become too old. */
static bool wait_for_work(struct index *index, bool *ret_rested)
{
    enum { NAP_MS = 20, SLEEP_MS = 3600000 };
    const struct timespec nap = deadline_after_ms(NAP_MS), sleep = deadline_after_ms(SLEEP_MS);
    store_failure_tell_end(index);
    bool no_scan = index->store_error || is_ahead(index);
    bool is_to_wait = wanted_scan_is_to_wait(index);
    bool is_dirty = !index->store_error && living_clusters_n_dirty(index->clusters) > 0;
    bool busy = wanted_scan_log_first(index) || !scan_is_over(index) || is_dirty ||
                !directory_removal_is_idle(index) || is_ahead(index) || *index->failure ||
                change_queue_outstanding(index->queue, LANE_FOREGROUND) > 0;
    LOCKED(&index->lock);
    while (!index->stop && !has_results(index) && !index->n_looks && !index->entries_noted &&
           !index->snapshot_wish && !index->damage_is_met &&
           (no_scan || !wanted_scan_is_there(index, is_to_wait))) {
        const bool naps = busy || index->clusterings_pending || index->n_results ||
                          (is_to_wait && index_is_rescan_wanted(index));
        if (pthread_cond_timedwait(&index->wake_committer, &index->lock, naps ? &nap : &sleep) ==
            ETIMEDOUT) {
            *ret_rested = true;
            break;
        }
    }
    index->entries_noted = false;
    return !index->stop;
}

/* Background work comes behind what users do, and has a fifth of the time all the same, however
 * much they do: others may wait for it. Of a scan all is clustered anew once it is over. Time in
 * which there was nothing to do, an hour perhaps, counts for nothing: what users do then does not
 * wait for a quarter of it. */
static void give_turns(struct index *index, int64_t *found_at_ms, int64_t *reclustered_at_ms)
{
    enum { FOUND_AFTER_MS = 200, FOUND_SHARE = 4, RECLUSTER_AFTER_MS = 1000 };
    const bool put_off = living_clusters_is_put_off(index->clusters, UINT64_MAX);
    const int64_t now_ms = clock_now_ms(), passed_ms = now_ms - *found_at_ms;
    if (passed_ms >= FOUND_AFTER_MS) {
        while (do_all_found(index) && clock_now_ms() - now_ms < passed_ms / FOUND_SHARE)
            continue;
        (void)do_join_passages(index);
        *found_at_ms = clock_now_ms();
    }
    const int64_t rested_ms = now_ms - *reclustered_at_ms;
    if (rested_ms >= (put_off ? FOUND_AFTER_MS : RECLUSTER_AFTER_MS)) {
        bool goes_on =
            scan_is_over(index) && change_queue_outstanding(index->queue, LANE_SCAN) == 0;
        /* Documents that come while others are put off are in no cluster until that is over. */
        while (goes_on)
            goes_on = (do_recluster(index) || do_clusterings(index)) && put_off &&
                      clock_now_ms() - now_ms < rested_ms / FOUND_SHARE;
        *reclustered_at_ms = clock_now_ms();
    }
}

void *committer_run(void *user)
{
    struct index *index = user;
    int64_t found_at_ms = clock_now_ms(), reclustered_at_ms = found_at_ms;
    bool rested = false, goes_on;
    niceness_join(&index->niceness);
    do {
        while (do_damage(index) || do_resume(index) || do_end_holding(index) ||
               do_all_noted(index, &rested) || do_flush_postings(index) || do_all_found(index) ||
               do_recluster(index) || do_clusterings(index) || do_join_passages(index) ||
               do_expire_past(index)) {
            snapshot_grant(index);
            give_turns(index, &found_at_ms, &reclustered_at_ms);
        }
        snapshot_grant(index);
        goes_on = wait_for_work(index, &rested);
        found_at_ms = clock_now_ms();
    } while (goes_on);
    niceness_leave(&index->niceness);
    return NULL;
}
