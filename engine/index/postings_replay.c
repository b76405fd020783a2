#include "engine/index/postings_replay.h"

#include <errno.h>

#include "engine/index/classes.h"
#include "engine/index/cluster_intent.h"
#include "engine/index/schema.h"

static int post_if_first(const struct graph *graph, uint64_t sid, const struct record *record)
{
    _cleanup_(sid_vector_done) struct sid_vector class = {0};
    uint8_t class_id[CLASS_BYTES];

    record_class(record, class_id);
    int r = classes_add(graph->kv, class_id, sid);
    if (r == 0)
        r = classes_list(graph->kv, class_id, 1, &class);
    if (r < 0 || class.sids[0] != sid)
        return r;
    return graph_post(graph, sid, &record->sketch);
}

struct replay {
    const struct graph *graph;
    uint64_t last_sid;
};

static int replay_record(void *user, uint64_t sid, const struct record *record)
{
    struct replay *replay = user;
    int r = post_if_first(replay->graph, sid, record);
    if (r == 0 && postings_flush_due(replay->graph->postings)) /* the watermark stays behind */
        r = postings_flush(replay->graph->postings);
    if (r == 0)
        replay->last_sid = sid;
    return r;
}

static int repost_named(const struct graph *graph)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    int r = posted_intent_list(graph->kv, &sids);

    for (size_t i = 0; i < sids.n_sids && r == 0; i++) {
        _cleanup_(record_done) struct record record = {0};
        r = graph_record(graph, sids.sids[i], &record);
        if (r == 0)
            r = post_if_first(graph, sids.sids[i], &record);
        else if (r == -ENOENT)
            r = 0;
    }
    return r;
}

int postings_replay(const struct graph *graph, uint64_t *last_sid)
{
    struct replay replay = {graph, *last_sid};
    int r = repost_named(graph);
    if (r == 0)
        r = records_each(graph->kv, *last_sid + 1, replay_record, &replay);
    *last_sid = replay.last_sid;
    return r;
}
