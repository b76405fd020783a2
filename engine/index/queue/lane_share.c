#include "engine/index/queue/lane_share.h"

enum { TIMES = 4 }; /* as long as the scan lane has, the other one may */

/* Time that the scan lane takes unasked is time that nobody else wanted. */
void lane_share_spend(struct lane_share *share, enum change_lane lane, int64_t us)
{
    if (lane != LANE_SCAN)
        share->owed_us += us;
    else if (lane_share_is_owed(share))
        share->owed_us -= TIMES * us;
    else
        lane_share_forget(share);
}
