#include "engine/index/members/dissolved_clusters.h"

#include <string.h>

void dissolved_clusters_note(struct dissolved_clusters *dissolved, uint64_t sid, uint64_t id)
{
    dissolved->last[sid % DISSOLVED_MAX].sid = sid;
    dissolved->last[sid % DISSOLVED_MAX].id = id;
}

uint64_t dissolved_clusters_id(const struct dissolved_clusters *dissolved, uint64_t sid)
{
    return dissolved->last[sid % DISSOLVED_MAX].sid == sid ? dissolved->last[sid % DISSOLVED_MAX].id
                                                           : 0;
}

void dissolved_clusters_forget(struct dissolved_clusters *dissolved, uint64_t sid)
{
    if (dissolved_clusters_id(dissolved, sid))
        memset(&dissolved->last[sid % DISSOLVED_MAX], 0, sizeof(dissolved->last[0]));
}

void dissolved_clusters_replace(struct dissolved_clusters *dissolved, uint64_t old_sid,
                                uint64_t new_sid)
{
    uint64_t id = dissolved_clusters_id(dissolved, old_sid);
    if (!id)
        return;
    dissolved_clusters_forget(dissolved, old_sid);
    dissolved_clusters_note(dissolved, new_sid, id);
}
