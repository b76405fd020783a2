#include "engine/index/intake/scan/wanted_scan.h"

#include "base/clock.h"
#include "base/counted.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/scan/scan_sets.h"

bool wanted_scan_is_to_wait(struct index *index)
{
    return atomic_load(&index->n_settling) == 0 && clock_now_ms() < index->whole_scan.next_at_ms;
}

static void end_whole_scan(struct index *index)
{
    index->whole_scan.runs = false;
    index->whole_scan.next_at_ms = clock_now_ms() + wanted_scan_rest_ms(index->whole_scan.spent_us);
}

void wanted_scan_tell(struct index *index)
{
    const bool over = scan_is_over(index);
    if (over && index->whole_scan.runs)
        end_whole_scan(index);
    LOCKED(&index->lock);
    const bool was = index->scanning;
    index->scanning = !over || !owner_stacks_are_empty(&index->wanted);
    if (was && !index->scanning)
        pthread_cond_broadcast(&index->background_changed);
}

int wanted_scan_begin(struct index *index)
{
    const bool is_to_wait = wanted_scan_is_to_wait(index);
    {
        LOCKED(&index->lock);
        if (!index_is_rescan_wanted(index) || is_to_wait)
            return 0;
        index->rescan_wanted = false;
        index->scanning = true;
        change_queue_scan_begins(index->queue);
    }
    index->whole_scan.runs = true;
    index->whole_scan.spent_us = 0;
    if (!index->whole_scan.first_is_logged && !index->whole_scan.first_began_ms)
        index->whole_scan.first_began_ms = clock_now_ms();
    return scan_begin(index);
}

bool wanted_scan_is_there(struct index *index, bool is_to_wait)
{
    return (index_is_rescan_wanted(index) && !is_to_wait) ||
           !owner_stacks_are_empty(&index->wanted) || index->n_visits_back;
}

bool wanted_scan_log_first(struct index *index)
{
    if (!index->whole_scan.first_began_ms || atomic_load(&index->store_error))
        return false;
    if (index->whole_scan.runs || !scan_is_over(index) ||
        change_queue_outstanding(index->queue, LANE_SCAN) > 0)
        return true;
    const double seconds = (double)(clock_now_ms() - index->whole_scan.first_began_ms) / 1000;
    index->whole_scan.first_began_ms = 0;
    index->whole_scan.first_is_logged = true;
    messages_log(&index->messages, INDEX_LOG_INFO, "scan of %s done in %.1f s: %s", index->source,
                 seconds, counted(atomic_load(&index->counts.n_documents), "document").text);
    return false;
}
