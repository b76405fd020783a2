#include "engine/index/lull.h"

bool lull_look(struct lull *lull, bool holding, uint64_t n_notes, int64_t now_ms)
{
    if (!holding) {
        lull->waiting = false;
        return false;
    }
    if (!lull->waiting) {
        *lull = (struct lull){true, now_ms, now_ms, n_notes};
        return false;
    }
    bool rested = false;
    if (n_notes != lull->n_notes) {
        lull->n_notes = n_notes;
        lull->looked_ms = now_ms;
    } else {
        rested = now_ms - lull->looked_ms >= LULL_REST_MS;
    }
    bool over = rested || now_ms - lull->began_ms >= LULL_MAX_MS;
    lull->waiting = !over;
    return over;
}
