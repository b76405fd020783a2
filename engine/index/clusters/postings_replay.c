#include "engine/index/clusters/postings_replay.h"

#include <errno.h>

#include "engine/index/tables/classes.h"
#include "engine/index/clusters/intents.h"

_Static_assert((int)RECORDS_VISITED <= (int)CLASSES_AT_ONCE, "of classes as many at once");

static int post_if_first(const struct graph *graph, uint64_t sid, const struct record *record)
{
    const bool is_alone = false;
    uint8_t class_id[1][CLASS_BYTES];
    uint64_t first;

    record_class(record, class_id[0]);
    int r = classes_add(graph->classes, (const uint8_t(*)[CLASS_BYTES])class_id, &sid, &is_alone, 1,
                        &first);
    if (r < 0 || first != sid)
        return r;
    return graph_post(graph, sid, &record->sketch);
}

struct replay {
    const struct graph *graph;
    uint64_t last_sid;
};

/* All documents of a page enter their classes by one write and one look: a repair replays all that
 * there are. */
static int replay_records(void *user, const uint64_t *sids, const struct record *records, size_t n)
{
    struct replay *replay = user;
    const struct graph *graph = replay->graph;
    uint8_t class_ids[RECORDS_VISITED][CLASS_BYTES];
    const bool is_alone[RECORDS_VISITED] = {false};
    uint64_t firsts[RECORDS_VISITED];
    for (size_t i = 0; i < n; i++)
        record_class(&records[i], class_ids[i]);
    int r = classes_add(graph->classes, (const uint8_t(*)[CLASS_BYTES])class_ids, sids, is_alone, n,
                        firsts);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (firsts[i] == sids[i])
            r = graph_post(graph, sids[i], &records[i].sketch);
    if (r == 0 && postings_flush_due(graph->postings)) /* the watermark stays behind */
        r = postings_flush(graph->postings);
    if (r == 0)
        replay->last_sid = sids[n - 1];
    return r;
}

static int repost_named(const struct graph *graph)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    int r = intents_list(graph->kv, INTENT_POSTED, &sids);

    for (size_t i = 0; i < sids.n_numbers && r == 0; i++) {
        _cleanup_(record_done) struct record record = {0};
        r = graph_record(graph, sids.numbers[i], &record);
        if (r == 0)
            r = post_if_first(graph, sids.numbers[i], &record);
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
        r = records_each_some(graph->kv, *last_sid + 1, replay_records, &replay);
    *last_sid = replay.last_sid;
    return r;
}
