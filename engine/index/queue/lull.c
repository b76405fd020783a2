#include "engine/index/queue/lull.h"

bool lull_look(struct lull *lull, bool pending, uint64_t n_events, int64_t now_ms)
{
    if (!pending || !lull->pending)
        *lull = (struct lull){pending, now_ms, now_ms, n_events};
    if (n_events != lull->n_events) {
        lull->n_events = n_events;
        lull->last_ms = now_ms;
    }
    return now_ms - lull->last_ms >= LULL_REST_MS || now_ms - lull->began_ms >= LULL_MAX_MS;
}
