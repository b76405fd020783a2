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

/* Rounds of what is done in the background, since somebody began to wait. Of what had come by then
 * some is in the round that ran, and the rest in the next one: both are over when another has
 * begun. So nobody who makes and moves directories without end keeps others waiting. */
enum { ROUNDS = 2 };

/* Called under the lock. In a damaged store nothing is clustered anew. */
static bool has_background_work(struct index *index, const struct index_settling *since)
{
    return ((index->scanning || index_is_rescan_wanted(index)) &&
            index->n_scan_rounds - since->n_scans < ROUNDS) ||
           (index->removing && index->n_removal_rounds - since->n_removals < ROUNDS) ||
           index->clusterings_pending ||
           (!index->damaged && living_clusters_n_dirty(index->clusters) > 0);
}

static bool is_in_background(struct index *index, const struct index_settling *since)
{
    LOCKED(&index->lock);
    return has_background_work(index, since);
}

static void begin_pass(struct index *index, struct index_settling *settling)
{
    LOCKED(&index->lock);
    settling->n_scans = index->n_scan_rounds;
    settling->n_removals = index->n_removal_rounds;
    settling->background_is_over = false;
}

static bool is_damaged(struct index *index)
{
    LOCKED(&index->lock);
    return index->damaged;
}

static int wait_for_background(struct index *index, const struct index_settling *since,
                               bool bounded, const struct timespec *end)
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

static int settle_foreground(struct index *index, uint64_t *ticket, int wait_ms)
{
    int r = change_queue_settle_on(index->queue, LANE_FOREGROUND, ticket, 0);
    if (r != -ETIMEDOUT || wait_ms == 0)
        return r;
    niceness_wait_begin(&index->niceness);
    r = change_queue_settle_on(index->queue, LANE_FOREGROUND, ticket, wait_ms);
    niceness_wait_end(&index->niceness);
    return r;
}

static uint64_t scans_begun(struct index *index)
{
    LOCKED(&index->lock);
    return index->n_scans_begun;
}

/* Waits for the background first, then for the changes that it led to. */
static int settle_pass(struct index *index, struct index_settling *settling, bool bounded,
                       const struct timespec *end)
{
    if (!settling->background_is_over) {
        int r = wait_for_background(index, settling, bounded, end);
        if (r < 0)
            return r;
        settling->background_is_over = true;
        settling->n_scans_begun = scans_begun(index);
        settling->ticket = 0;
    }
    return change_queue_settle_on(index->queue, LANE_SCAN, &settling->ticket,
                                  bounded ? ms_until(end) : -1);
}

/* An entry that was waited for may have brought a directory, and so another scan; which may be over
 * already, when what it found is not. Where that goes on and on it is others who do it. */
static int settle_all(struct index *index, struct index_settling *settling, int wait_ms)
{
    enum { PASSES = 4 };
    const struct timespec end = deadline_after_ms(wait_ms < 0 ? 0 : wait_ms);
    if (!settling->has_begun)
        begin_pass(index, settling);
    settling->has_begun = true;
    for (bool is_more = true; is_more;) {
        int r = settle_pass(index, settling, wait_ms >= 0, &end);
        if (r < 0)
            return r;
        begin_pass(index, settling);
        is_more = ++settling->n_passes < PASSES && (is_in_background(index, settling) ||
                                                    scans_begun(index) != settling->n_scans_begun);
    }
    return is_damaged(index) ? -EUCLEAN : 0;
}

/* Clusterings and lists that could not be made anew are tried once more. */
static void retry_clusterings(struct index *index)
{
    const bool named = named_clusterings_retry(&index->named),
               topics = index->topics && topics_retry(index->topics);
    if (!named && !topics)
        return;
    LOCKED(&index->lock);
    index->clusterings_pending = !index->damaged;
    pthread_cond_signal(&index->wake_committer);
}

int index_settle_on(struct index *index, enum index_lane lane, struct index_settling *settling,
                    int wait_ms)
{
    if (!index->started)
        return 0;
    if (lane == INDEX_LANE_FOREGROUND)
        return settle_foreground(index, &settling->ticket, wait_ms);
    niceness_wait_begin(&index->niceness);
    if (!settling->has_begun)
        retry_clusterings(index);
    atomic_fetch_add(&index->n_settling, 1);
    int r = settle_all(index, settling, wait_ms);
    atomic_fetch_sub(&index->n_settling, 1);
    niceness_wait_end(&index->niceness);
    return r;
}

int index_settle(struct index *index, enum index_lane lane, int wait_ms)
{
    return index_settle_on(index, lane, &(struct index_settling){0}, wait_ms);
}

uint64_t index_generation(struct index *index)
{
    return atomic_load(&index->generation);
}
