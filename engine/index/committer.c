/* The committer: the one thread that changes the store.
 *
 * A new content is committed in three steps, each idempotent: its record (the commit point), its
 * class, postings and cluster, and the file's row that names it. Sids grow, so after a crash every
 * record past `derived_sid` is looked at again: the larger sid of a file is the live one.
 *
 * When the store fails (a full disk), nothing waits for it: changes are dropped and counted, the
 * store is tried again from time to time, and a scan finds what was missed. A damaged store is not
 * tried again: only a rebuild mends it.
 */
#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/escape.h"
#include "engine/index/index_private.h"

enum {
    SID_BLOCK = 1024,   /* sids reserved at once: what a crash may waste */
    RESUME_SECONDS = 2, /* between two tries of a failing store */
    RECOVER_PAGE = 256, /* records looked at again at once */
    GONE_TRIES_MAX = 8, /* of a file that its directory has and that cannot be opened */
};

struct sid_key {
    uint8_t bytes[8];
};

static struct kv_slice sid_slice(struct sid_key *key, uint64_t sid)
{
    put_be64(key->bytes, sid);
    return (struct kv_slice){key->bytes, sizeof(key->bytes)};
}

/* -- documents -- */

static int next_sid(struct index *index, uint64_t *ret_sid)
{
    if (index->next_sid >= index->sid_end) {
        int r = identity_put_number(index, "sid_end", index->next_sid + SID_BLOCK);
        if (r < 0)
            return r;
        index->sid_end = index->next_sid + SID_BLOCK;
    }
    *ret_sid = index->next_sid++;
    return 0;
}

static int put_record(struct index *index, uint64_t sid, const struct record *record)
{
    struct sid_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = batch ? record_encode(record, &value) : -ENOMEM;
    if (r < 0)
        return r;
    kv_batch_put(batch, TABLE_RECORDS, sid_slice(&key, sid), kv_buf_slice(&value));
    return kv_apply(index->kv, batch);
}

static int get_record(struct index *index, uint64_t sid, struct record *ret_record)
{
    struct sid_key key;
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(index->kv, TABLE_RECORDS, sid_slice(&key, sid), &value);
    return r < 0 ? r : record_decode(value.data, value.size_bytes, ret_record);
}

/* NULL deletes the row. All rows of files go through here, and so the counts follow what is stored,
 * whatever failed in between. */
static int put_file(struct index *index, const struct file_key *key, const struct file_row *row)
{
    struct file_row before;
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    int r = catalogue_get_file(index->kv, key, &before);
    if (r < 0 && r != -ENOENT)
        return r;
    bool had = r == 0;
    if (row)
        catalogue_put_file(batch, key, row);
    else
        catalogue_delete_file(batch, key);
    r = kv_apply(index->kv, batch);
    if (r < 0)
        return r;
    if (had)
        atomic_fetch_sub(before.sid ? &index->n_documents : &index->n_skipped, 1);
    if (row)
        atomic_fetch_add(row->sid ? &index->n_documents : &index->n_skipped, 1);
    return 0;
}

static struct file_row row_of(uint64_t sid, const struct record *record, bool racy)
{
    return (struct file_row){.sid = sid,
                             .size_bytes = record->size_bytes,
                             .mtime = record->mtime,
                             .ctime = record->ctime,
                             .racy = racy};
}

/* The row of a file and the record it names, if it names one that is there. */
static int get_document(struct index *index, const struct file_key *key, struct file_row *ret_row,
                        struct record *ret_record)
{
    struct file_row row = {0};
    int r = catalogue_get_file(index->kv, key, &row);
    if (r == -ENOENT)
        r = 0;
    if (r == 0 && row.sid) {
        r = get_record(index, row.sid, ret_record);
        if (r == -ENOENT) {
            row.sid = 0;
            r = 0;
        }
    }
    if (r == 0)
        *ret_row = row;
    return r;
}

/* Step two and three of a commit; the record is in the store. */
static int derive(struct index *index, uint64_t sid, const struct record *record, bool racy,
                  uint64_t old_sid, const struct record *old)
{
    struct file_row row = row_of(sid, record, racy);
    int r = old_sid ? living_clusters_replace(index->clusters, old_sid, old, sid, record)
                    : living_clusters_insert(index->clusters, sid, record);
    return r < 0 ? r : put_file(index, &record->key, &row);
}

static int commit_sketched(struct index *index, const struct result *result)
{
    const struct record *record = &result->record;
    _cleanup_(record_done) struct record old = {0};
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    struct file_row row;
    uint64_t sid;

    /* Without a name it was deleted meanwhile, or its entry is still to come and will note it. */
    int r = catalogue_links(index->kv, &record->key, 1, &links);
    if (r < 0 || links.n_entries == 0)
        return r;
    r = get_document(index, &record->key, &row, &old);
    if (r < 0)
        return r;
    if (row.sid &&
        memcmp(old.content_fingerprint, record->content_fingerprint, FINGERPRINT_BYTES) == 0) {
        row = row_of(row.sid, record, result->racy);
        return put_file(index, &record->key, &row);
    }
    r = next_sid(index, &sid);
    if (r == 0)
        r = put_record(index, sid, record);
    if (r < 0)
        return r;
    index->last_sid = sid;
    return derive(index, sid, record, result->racy, row.sid, &old);
}

int committer_drop_document(struct index *index, const struct file_key *file)
{
    _cleanup_(record_done) struct record old = {0};
    struct file_row row;
    int r = get_document(index, file, &row, &old);
    if (r < 0)
        return r;
    if (row.sid) {
        /* A crash between record and row must not leave a row that passes for a sketched file. */
        if (!row.racy) {
            row.racy = true;
            r = put_file(index, file, &row);
        }
        if (r == 0)
            r = living_clusters_delete(index->clusters, row.sid, &old);
        if (r < 0)
            return r;
    }
    return put_file(index, file, NULL);
}

static void log_unreadable(struct index *index, const struct file_key *file, const char *reason)
{
    _cleanup_free_ char *path = NULL, *escaped = NULL;
    if (index_path(index, file, &path) == 0 && escape_name(path, &escaped) == 0)
        index_log(index, INDEX_LOG_WARNING, "%s: %s", escaped, reason);
}

static int skip_document(struct index *index, const struct file_key *file, const struct stat *st,
                         int error)
{
    struct file_row before,
        row = {.size_bytes = (uint64_t)st->st_size, .mtime = st->st_mtim, .ctime = st->st_ctim};
    snprintf(row.reason, sizeof(row.reason), "cannot be read: %s", strerror(-error));
    int r = catalogue_get_file(index->kv, file, &before);
    if (r < 0 && r != -ENOENT)
        return r;
    bool known = r == 0 && strcmp(before.reason, row.reason) == 0;
    if (r == 0 && before.sid)
        r = committer_drop_document(index, file);
    if (r == 0 || r == -ENOENT)
        r = put_file(index, file, &row);
    if (r == 0 && !known)
        log_unreadable(index, file, row.reason);
    return r;
}

static int commit_failed(struct index *index, const struct result *result)
{
    return skip_document(index, &result->change->key, &result->st, result->error);
}

/* The file is gone, and perhaps nobody said so: look at its names again. Where they still lead to
 * it, round after round, it is there and cannot be read. */
static int commit_gone(struct index *index, const struct result *result)
{
    enum { LINKS_AT_FIRST = 64, LINKS_TIMES = 16 };
    const struct change *change = result->change;
    for (size_t limit = LINKS_AT_FIRST;; limit *= LINKS_TIMES) {
        _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
        int r = catalogue_links(index->kv, &change->key, limit, &links);
        if (r < 0)
            return r;
        if (links.n_entries == limit)
            continue;
        if (links.n_entries && change->n_tries >= GONE_TRIES_MAX)
            return skip_document(index, &change->key, &result->st, -ESTALE);
        for (size_t i = 0; i < links.n_entries; i++)
            index_note(index, CHANGE_ENTRY, &links.entries[i].parent, links.entries[i].name,
                       change);
        return 0;
    }
}

static int commit(struct index *index, const struct result *result)
{
    switch (result->outcome) {
    case OUTCOME_SKETCHED: return commit_sketched(index, result);
    case OUTCOME_GONE: return commit_gone(index, result);
    case OUTCOME_FAILED: return commit_failed(index, result);
    }
    return -EINVAL;
}

/* -- a failing store -- */

/* For good: who waits for a scan is told, and nothing is tried again. */
static void store_is_damaged(struct index *index)
{
    scan_done(&index->scan);
    {
        LOCKED(&index->lock);
        index->damaged = true;
        index->scanning = index->rescan_wanted = false;
        pthread_cond_broadcast(&index->scan_ended);
    }
    index_log(
        index, INDEX_LOG_ERROR,
        "store %s is damaged; unmount and run `kinfs rebuild %s` (the documents are served as "
        "ever, but not sketched)",
        index->store_path, index->source);
}

static void store_failed(struct index *index, int error)
{
    if (error == -ESHUTDOWN) /* the queue's: the index is being closed */
        return;
    atomic_fetch_add(&index->n_failed, 1);
    if (index->store_error == -EUCLEAN)
        return;
    index->store_error = error;
    if (error == -EUCLEAN) {
        store_is_damaged(index);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &index->resume_at);
    index->resume_at.tv_sec += RESUME_SECONDS;
    index_rescan(index);
    if (index->failure_told)
        return;
    index->failure_told = true;
    index_log(index, INDEX_LOG_ERROR,
              "store %s: %s; documents are not sketched until it can be written again (they are "
              "served as ever)",
              index->store_path, strerror(-error));
}

static bool time_to_resume(const struct index *index)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= index->resume_at.tv_sec;
}

static int try_resume(struct index *index)
{
    int r = kv_resume(index->kv);
    if (r == 0)
        r = committer_recover(index);
    if (r == 0)
        r = identity_put_number(index, "sid_end", index->sid_end);
    if (r == 0)
        index->store_error = 0;
    return r;
}

/* A failure is over when all that it left undone has been written: what stands in the way may lie
 * in one row, and would fail and pass every other second. */
static void tell_recovery(struct index *index)
{
    if (!index->failure_told || index->store_error || !scan_is_idle(index) ||
        change_queue_outstanding(index->queue, LANE_SCAN))
        return;
    {
        LOCKED(&index->lock);
        if (index->rescan_wanted)
            return;
    }
    index->failure_told = false;
    index_log(index, INDEX_LOG_INFO, "store %s can be written again", index->store_path);
}

/* -- the loop -- */

int committer_flush(struct index *index)
{
    uint64_t sid = index->last_sid;
    if (index->store_error) /* what derives from the last records may be missing */
        return index->store_error;
    int r = living_clusters_flush(index->clusters);
    if (r == 0 && sid > index->derived_sid)
        r = identity_put_number(index, "derived_sid", sid);
    if (r == 0)
        index->derived_sid = sid;
    return r;
}

static struct result *take_result(struct index *index)
{
    LOCKED(&index->lock);
    struct result *result = STAILQ_FIRST(&index->results);
    if (result) {
        STAILQ_REMOVE_HEAD(&index->results, next);
        index->n_results--;
        pthread_cond_signal(&index->results_taken);
    }
    return result;
}

static void free_result(struct result *result)
{
    record_done(&result->record);
    free(result);
}

void committer_drop_results(struct index *index)
{
    struct result *result;
    while ((result = take_result(index)))
        free_result(result);
}

/* What changes the store stands between these two: answers made meanwhile may be of both sides. */
static void begin_step(struct index *index)
{
    atomic_fetch_add(&index->generation, 1);
}

static void end_step(struct index *index, int r)
{
    if (r < 0)
        store_failed(index, r);
    atomic_fetch_add(&index->generation, 1);
}

/* Each returns whether there was something to do. */
static bool do_entry(struct index *index)
{
    struct change *change;
    if (change_queue_take(index->queue, CHANGE_ENTRY, false, &change) != 1)
        return false;
    begin_step(index);
    end_step(index, index->store_error ? 0 : reconcile_entry(index, change));
    change_queue_done(index->queue, change);
    return true;
}

static bool do_result(struct index *index)
{
    struct result *result = take_result(index);
    if (!result)
        return false;
    begin_step(index);
    end_step(index, index->store_error ? 0 : commit(index, result));
    change_queue_done(index->queue, result->change);
    free_result(result);
    return true;
}

static bool do_flush(struct index *index)
{
    if (index->store_error || !postings_flush_due(index->postings))
        return false;
    int r = committer_flush(index);
    if (r < 0)
        store_failed(index, r);
    return r == 0;
}

static void end_scan(struct index *index)
{
    LOCKED(&index->lock);
    index->scanning = false;
    pthread_cond_broadcast(&index->scan_ended);
}

static bool take_rescan_wish(struct index *index)
{
    LOCKED(&index->lock);
    bool wanted = index->rescan_wanted;
    index->rescan_wanted = false;
    if (wanted)
        index->scanning = true;
    return wanted;
}

static bool is_stopping(struct index *index)
{
    LOCKED(&index->lock);
    return index->stop;
}

/* The scan runs ahead of the workers by this much and the documents of one directory. */
static bool is_ahead(struct index *index)
{
    enum { AHEAD_MAX = 4096 };
    return change_queue_outstanding(index->queue, LANE_SCAN) > AHEAD_MAX;
}

static bool do_scan(struct index *index)
{
    if (index->store_error || is_stopping(index) || is_ahead(index))
        return false;
    if (scan_is_idle(index)) {
        if (!take_rescan_wish(index))
            return false;
        int r = scan_begin(index);
        if (r < 0) {
            store_failed(index, r);
            end_scan(index);
            return false;
        }
    }
    begin_step(index);
    int r = scan_step(index);
    end_step(index, r);
    if (r <= 0) {
        scan_done(&index->scan);
        end_scan(index);
    }
    return true;
}

static bool do_resume(struct index *index)
{
    if (!index->store_error || index->store_error == -EUCLEAN || !time_to_resume(index))
        return false;
    begin_step(index);
    end_step(index, try_resume(index));
    return true;
}

/* Sleeps until there is something to do, but not for ever: the scan lane drains without a word. */
static bool wait_for_work(struct index *index)
{
    enum { NAP_MS = 20 };
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += NAP_MS * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000L;
    }
    tell_recovery(index);
    bool no_scan = index->store_error || is_ahead(index);
    bool busy = !scan_is_idle(index) || is_ahead(index) || index->failure_told;
    LOCKED(&index->lock);
    while (!index->stop && !index->n_results && !index->entries_noted &&
           (!index->rescan_wanted || no_scan)) {
        if (!busy)
            pthread_cond_wait(&index->wake_committer, &index->lock);
        else if (pthread_cond_timedwait(&index->wake_committer, &index->lock, &end) == ETIMEDOUT)
            break;
    }
    index->entries_noted = false;
    return !index->stop;
}

void *committer_run(void *user)
{
    struct index *index = user;
    index_thread_begin();
    do {
        while (do_resume(index) || do_entry(index) || do_result(index) || do_flush(index) ||
               do_scan(index))
            ;
    } while (wait_for_work(index));

    return NULL;
}

/* -- after a crash, or a failure of the store -- */

static int recover_record(struct index *index, uint64_t sid, const struct record *record)
{
    _cleanup_(record_done) struct record old = {0};
    struct file_row row;
    int r = get_document(index, &record->key, &row, &old);
    if (r < 0)
        return r;
    if (row.sid > sid) /* superseded; its removal was interrupted */
        return living_clusters_delete(index->clusters, sid, record);
    if (row.sid == sid)
        return living_clusters_insert(index->clusters, sid, record);
    return derive(index, sid, record, true, row.sid, &old);
}

int committer_recover(struct index *index)
{
    struct sid_key key;
    _cleanup_(kv_buf_done) struct kv_buf from = {0};
    int r = living_clusters_recover(index->clusters);
    if (r < 0)
        return r;
    struct kv_range range = {.from = sid_slice(&key, index->derived_sid + 1)};
    for (bool more = true; more;) {
        _cleanup_(kv_page_done) struct kv_page page = {0};
        r = kv_scan(index->kv, TABLE_RECORDS, &range, RECOVER_PAGE, &page);
        for (size_t i = 0; r == 0 && i < page.n_entries; i++) {
            _cleanup_(record_done) struct record record = {0};
            if (page.entries[i].key.size_bytes != sizeof(uint64_t))
                return -EUCLEAN;
            uint64_t sid = get_be64(page.entries[i].key.data);
            r = record_decode(page.entries[i].value.data, page.entries[i].value.size_bytes,
                              &record);
            if (r == 0)
                r = recover_record(index, sid, &record);
            if (sid > index->last_sid)
                index->last_sid = sid;
        }
        if (r < 0)
            return r;
        more = page.more && page.n_entries > 0;
        if (more) {
            kv_buf_done(&from);
            r = kv_page_cursor(&page, &from);
            if (r < 0)
                return r;
            range.from = kv_buf_slice(&from);
        }
    }
    return 0;
}
