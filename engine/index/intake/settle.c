/* Waiting until the index has done what it was told, and what it found to do. */
#include <errno.h>
#include <time.h>

#include "base/deadline.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"

static int ms_until(const struct timespec *end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ms =
        (int64_t)(end->tv_sec - now.tv_sec) * 1000 + (end->tv_nsec - now.tv_nsec) / 1000000;
    return ms < 0 ? 0 : (int)ms;
}

/* Rounds of what is done in the background, when somebody began to wait. Of what had come by then
 * some is in the round that ran, and the rest in the next one: both are over when another has
 * begun. So nobody who makes and moves directories without end keeps others waiting. */
struct rounds {
    uint64_t n_scans, n_removals;
};
enum { ROUNDS = 2 };

/* Called under the lock. In a damaged store nothing is clustered anew. */
static bool has_background_work(struct index *index, const struct rounds *since)
{
    return ((index->scanning || index_is_rescan_wanted(index)) &&
            index->n_scan_rounds - since->n_scans < ROUNDS) ||
           (index->removing && index->n_removal_rounds - since->n_removals < ROUNDS) ||
           index->clusterings_pending ||
           (!index->damaged && living_clusters_n_dirty(index->clusters) > 0);
}

static bool is_in_background(struct index *index, const struct rounds *since)
{
    LOCKED(&index->lock);
    return has_background_work(index, since);
}

static struct rounds rounds_of(struct index *index)
{
    LOCKED(&index->lock);
    return (struct rounds){index->n_scan_rounds, index->n_removal_rounds};
}

static bool is_damaged(struct index *index)
{
    LOCKED(&index->lock);
    return index->damaged;
}

static int wait_for_background(struct index *index, const struct rounds *since, bool bounded,
                               const struct timespec *end)
{
    LOCKED(&index->lock);
    while (has_background_work(index, since)) {
        if (index->stop)
            return -ESHUTDOWN;
        int r = bounded ? pthread_cond_timedwait(&index->background_changed, &index->lock, end)
                        : pthread_cond_wait(&index->background_changed, &index->lock);
        if (r == ETIMEDOUT)
            return -ETIMEDOUT;
    }
    return 0;
}

static int settle_foreground(struct index *index, int wait_ms)
{
    int r = change_queue_settle(index->queue, LANE_FOREGROUND, 0);
    if (r != -ETIMEDOUT || wait_ms == 0)
        return r;
    niceness_wait_begin(&index->niceness);
    r = change_queue_settle(index->queue, LANE_FOREGROUND, wait_ms);
    niceness_wait_end(&index->niceness);
    return r;
}

static uint64_t scans_begun(struct index *index)
{
    LOCKED(&index->lock);
    return index->n_scans_begun;
}

/* An entry that was waited for may have brought a directory, and so another scan; which may be over
 * already, when what it found is not. Where that goes on and on it is others who do it. */
static int settle_all(struct index *index, int wait_ms)
{
    enum { PASSES = 4 };
    struct timespec end = deadline_after_ms(wait_ms < 0 ? 0 : wait_ms);
    struct rounds since = rounds_of(index);
    bool is_more = true;
    int r = 0;
    for (unsigned pass = 0; r == 0 && is_more && pass < PASSES; pass++) {
        r = wait_for_background(index, &since, wait_ms >= 0, &end);
        const uint64_t n_begun = scans_begun(index);
        if (r == 0)
            r = change_queue_settle(index->queue, LANE_SCAN, wait_ms < 0 ? -1 : ms_until(&end));
        since = rounds_of(index);
        is_more = is_in_background(index, &since) || scans_begun(index) != n_begun;
    }
    return r == 0 && is_damaged(index) ? -EUCLEAN : r;
}

/* Clusterings that could not be made anew are tried once more. */
static void retry_clusterings(struct index *index)
{
    if (!named_clusterings_retry(&index->named))
        return;
    LOCKED(&index->lock);
    index->clusterings_pending = !index->damaged;
    pthread_cond_signal(&index->wake_committer);
}

int index_settle(struct index *index, enum index_lane lane, int wait_ms)
{
    if (!index->started)
        return 0;
    if (lane == INDEX_LANE_FOREGROUND)
        return settle_foreground(index, wait_ms);
    niceness_wait_begin(&index->niceness);
    retry_clusterings(index);
    atomic_fetch_add(&index->n_settling, 1);
    int r = settle_all(index, wait_ms);
    atomic_fetch_sub(&index->n_settling, 1);
    niceness_wait_end(&index->niceness);
    return r;
}

uint64_t index_generation(struct index *index)
{
    return atomic_load(&index->generation);
}
