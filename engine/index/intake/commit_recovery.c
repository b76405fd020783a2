/* Commits that a crash, or a failure of the store, left half done: their records are there, and
 * what derives from them may not be. The committer's, or before it runs.
 *
 * Example: a crash after the record with sid 7 of a rewritten file, whose row still names sid 3.
 * The larger sid is the live one: 7 is clustered in the place of 3, and the row names it.
 */
#include "engine/index/catalogue/stored_row.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/commit.h"

/* The steps of a commit behind its record, passages and bag (commit.c). */
static int derive(struct index *index, uint64_t sid, const struct record *record, bool racy,
                  struct stored_row *stored, uint64_t old_sid, const struct record *old)
{
    struct file_row row = file_row_of(sid, record, racy);
    int r = old_sid ? living_clusters_replace(index->clusters, old_sid, old, sid, record)
                    : living_clusters_insert(index->clusters, sid, record);
    return r < 0 ? r : stored_row_put(&index->counts, &record->key, stored, &row);
}

static int recover_one(struct index *index, uint64_t sid, const struct record *record)
{
    _cleanup_(record_done) struct record old = {0};
    struct stored_row stored;
    uint64_t old_sid;
    int r = stored_row_document(index->kv, &record->key, &stored, &old_sid, &old);
    if (r < 0)
        return r;
    const uint64_t gone = old_sid > sid ? sid : old_sid;
    if (index->passages && gone != 0 && old_sid != sid)
        r = passages_remove(index->passages, &gone, 1);
    if (r == 0 && index->topics && gone != 0 && old_sid != sid)
        r = topics_remove(index->topics, &gone, 1);
    if (r < 0)
        return r;
    if (old_sid > sid) /* superseded; its removal was interrupted */
        return living_clusters_delete(index->clusters, sid, record);
    if (old_sid == sid)
        return living_clusters_insert(index->clusters, sid, record);
    return derive(index, sid, record, true, &stored, old_sid, &old);
}

static int recover_record(void *user, uint64_t sid, const struct record *record)
{
    struct index *index = user;
    int r = recover_one(index, sid, record);
    if (r == 0 && postings_flush_due(index->postings)) /* the watermarks stay behind */
        r = postings_flush(index->postings);
    if (sid > index->last_sid)
        index->last_sid = sid;
    return r;
}

int commit_recover(struct index *index)
{
    int r = living_clusters_recover(index->clusters);
    if (r == 0 && index->passages)
        r = passages_recover(index->passages);
    return r < 0 ? r : records_each(index->kv, index->derived_sid + 1, recover_record, index);
}
