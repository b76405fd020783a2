#include "engine/index/postings_replay.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/classes.h"
#include "engine/index/cluster_intent.h"
#include "engine/index/schema.h"

enum { RECORDS_AT_ONCE = 64 };

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

static int replay_page(const struct graph *graph, const struct kv_page *page, uint64_t *last_sid)
{
    for (size_t i = 0; i < page->n_entries; i++) {
        _cleanup_(record_done) struct record record = {0};
        const struct kv_entry *entry = &page->entries[i];
        if (entry->key.size_bytes != 8)
            return -EUCLEAN;
        uint64_t sid = get_be64(entry->key.data);
        int r = record_decode(entry->value.data, entry->value.size_bytes, &record);
        if (r == 0)
            r = post_if_first(graph, sid, &record);
        if (r < 0)
            return r;
        *last_sid = sid;
    }
    return 0;
}

/* All records past the last one, in order. */
static int replay_records(const struct graph *graph, uint64_t *last_sid)
{
    bool more = true;
    int r = 0;

    while (more && r == 0) {
        uint8_t from[8];
        put_be64(from, *last_sid + 1);
        struct kv_range range = {.from = {from, sizeof(from)}};
        struct kv_page page;
        r = kv_scan(graph->kv, TABLE_RECORDS, &range, RECORDS_AT_ONCE, &page);
        if (r < 0)
            return r;
        more = page.more;
        r = replay_page(graph, &page, last_sid);
        kv_page_done(&page);
    }
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
    int r = repost_named(graph);
    return r < 0 ? r : replay_records(graph, last_sid);
}
