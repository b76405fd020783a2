/* A worker shares its time between the lanes: what a scan found comes behind what users do, and has
 * a fifth of the time all the same, however much they do. Time in which nothing of the one waited
 * is given to the other, and not owed. A worker's own; the clock is the caller's. */
#ifndef KINFS_ENGINE_INDEX_QUEUE_LANE_SHARE_H
#define KINFS_ENGINE_INDEX_QUEUE_LANE_SHARE_H

#include "engine/index/queue/change_queue.h"

/* Zeroed to begin with. */
struct lane_share {
    int64_t owed_us; /* to the scan lane, four times; below 0: it had more than its share */
};

/* The scan lane goes first now. */
static inline bool lane_share_is_owed(const struct lane_share *share)
{
    return share->owed_us > 0;
}

/* Nothing of it waits. */
static inline void lane_share_forget(struct lane_share *share)
{
    share->owed_us = 0;
}

/* A change of a lane has taken so long. */
void lane_share_spend(struct lane_share *share, enum change_lane lane, int64_t us);

#endif
