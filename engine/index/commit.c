/* Documents into the store and out of it; the committer's.
 *
 * A new content is committed in three steps, each idempotent: its record (the commit point), its
 * class, postings and cluster, and the file's row that names it. Sids grow, so after a crash every
 * record past `derived_sid` is looked at again: the larger sid of a file is the live one. A
 * document is removed with its row marked first, so that a file that lives on after a crash is read
 * again.
 */
#include <errno.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/escape.h"
#include "engine/index/index_private.h"

enum {
    SID_BLOCK = 1024,   /* sids reserved at once: what a crash may waste */
    RECOVER_PAGE = 256, /* records looked at again at once */
    GONE_TRIES_MAX = 8, /* of a file that its directory has and that cannot be opened */
};

/* -- records and rows -- */

struct sid_key {
    uint8_t bytes[8];
};

static struct kv_slice sid_slice(struct sid_key *key, uint64_t sid)
{
    put_be64(key->bytes, sid);
    return (struct kv_slice){key->bytes, sizeof(key->bytes)};
}

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

/* A row as it is in the store. */
struct stored_row {
    bool exists;
    struct file_row row; /* all zero where it does not exist */
};

static int get_row(struct index *index, const struct file_key *key, struct stored_row *ret_row)
{
    *ret_row = (struct stored_row){0};
    int r = catalogue_get_file(index->kv, key, &ret_row->row);
    ret_row->exists = r == 0;
    return r == -ENOENT ? 0 : r;
}

/* NULL deletes the row. All rows of files go through here, and so the counts follow what is stored,
 * whatever failed in between. *stored is what was read, and becomes what has been written. */
static int put_file(struct index *index, const struct file_key *key, struct stored_row *stored,
                    const struct file_row *row)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    if (!stored->exists && !row)
        return 0;
    if (row)
        catalogue_put_file(batch, key, row);
    else
        catalogue_delete_file(batch, key);
    int r = document_counts_apply(index, batch, stored->exists ? &stored->row : NULL, row);
    if (r == 0)
        *stored = row ? (struct stored_row){.exists = true, .row = *row} : (struct stored_row){0};
    return r;
}

static struct file_row row_of(uint64_t sid, const struct record *record, bool racy)
{
    return (struct file_row){.sid = sid,
                             .size_bytes = record->size_bytes,
                             .mtime = record->mtime,
                             .ctime = record->ctime,
                             .racy = racy};
}

/* The row of a file and the record it names. *ret_sid: the row's, 0 where that record is not there.
 */
static int get_document(struct index *index, const struct file_key *key, struct stored_row *ret_row,
                        uint64_t *ret_sid, struct record *ret_record)
{
    int r = get_row(index, key, ret_row);
    *ret_sid = r == 0 ? ret_row->row.sid : 0;
    if (r == 0 && *ret_sid) {
        r = get_record(index, *ret_sid, ret_record);
        if (r == -ENOENT) {
            *ret_sid = 0;
            r = 0;
        }
    }
    return r;
}

/* Step two and three of a commit; the record is in the store. */
static int derive(struct index *index, uint64_t sid, const struct record *record, bool racy,
                  struct stored_row *stored, uint64_t old_sid, const struct record *old)
{
    struct file_row row = row_of(sid, record, racy);
    int r = old_sid ? living_clusters_replace(index->clusters, old_sid, old, sid, record)
                    : living_clusters_insert(index->clusters, sid, record);
    return r < 0 ? r : put_file(index, &record->key, stored, &row);
}

static int commit_sketched(struct index *index, const struct result *result)
{
    const struct record *record = &result->record;
    _cleanup_(record_done) struct record old = {0};
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    struct stored_row stored;
    uint64_t sid, old_sid;

    /* Without a name it was deleted meanwhile, or its entry is still to come and will note it; but
     * for one that is open for writing, of which its end has to (add_entry()). */
    int r = catalogue_links(index->kv, &record->key, 1, &links);
    if (r == 0 && links.n_entries == 0)
        writing_set_owe(index->writing, &record->key);
    if (r < 0 || links.n_entries == 0)
        return r;
    r = get_document(index, &record->key, &stored, &old_sid, &old);
    if (r < 0)
        return r;
    if (old_sid &&
        memcmp(old.content_fingerprint, record->content_fingerprint, FINGERPRINT_BYTES) == 0) {
        struct file_row row = row_of(old_sid, record, result->racy);
        return put_file(index, &record->key, &stored, &row);
    }
    r = next_sid(index, &sid);
    if (r == 0)
        r = put_record(index, sid, record);
    if (r < 0)
        return r;
    index->last_sid = sid;
    return derive(index, sid, record, result->racy, &stored, old_sid, &old);
}

/* A document that is going: its row and what it names. */
struct going {
    struct stored_row stored;
    uint64_t sid; /* 0: it has no record */
    struct record record;
};

static void going_free(struct going *going, size_t n)
{
    for (size_t i = 0; i < n; i++)
        record_done(&going[i].record);
    free(going);
}

/* Reads what is going, and marks its rows: a crash between record and row must not leave a row that
 * passes for a sketched file. */
static int begin_dropping(struct index *index, const struct file_key *files, size_t n,
                          struct going *going)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = get_document(index, &files[i], &going[i].stored, &going[i].sid, &going[i].record);
        if (r == 0 && going[i].sid && !going[i].stored.row.racy) {
            struct file_row marked = going[i].stored.row;
            marked.racy = true;
            r = put_file(index, &files[i], &going[i].stored, &marked);
        }
    }
    return r;
}

static int drop_sketches(struct index *index, const struct going *going, size_t n)
{
    _cleanup_free_ uint64_t *sids = calloc(n, sizeof(*sids));
    _cleanup_free_ const struct record **records = calloc(n, sizeof(*records));
    size_t n_sids = 0;
    if (!sids || !records)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        if (!going[i].sid)
            continue;
        sids[n_sids] = going[i].sid;
        records[n_sids++] = &going[i].record;
    }
    return n_sids ? living_clusters_delete_all(index->clusters, sids, records, n_sids) : 0;
}

int commit_drop_documents(struct index *index, const struct file_key *files, size_t n)
{
    if (n == 0)
        return 0;
    struct going *going = calloc(n, sizeof(*going));
    if (!going)
        return -ENOMEM;
    int r = begin_dropping(index, files, n, going);
    if (r == 0)
        r = drop_sketches(index, going, n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = put_file(index, &files[i], &going[i].stored, NULL);
    going_free(going, n);
    return r;
}

int commit_drop_document(struct index *index, const struct file_key *file)
{
    return commit_drop_documents(index, file, 1);
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
    struct stored_row stored;
    struct file_row row = {
        .size_bytes = (uint64_t)st->st_size, .mtime = st->st_mtim, .ctime = st->st_ctim};
    snprintf(row.reason, sizeof(row.reason), "cannot be read: %s", strerror(-error));
    int r = get_row(index, file, &stored);
    bool known = r == 0 && stored.exists && strcmp(stored.row.reason, row.reason) == 0;
    if (r == 0 && stored.row.sid) {
        r = commit_drop_document(index, file);
        stored = (struct stored_row){0};
    }
    if (r == 0)
        r = put_file(index, file, &stored, &row);
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

int commit_result(struct index *index, const struct result *result)
{
    switch (result->outcome) {
    case OUTCOME_SKETCHED: return commit_sketched(index, result);
    case OUTCOME_GONE: return commit_gone(index, result);
    case OUTCOME_FAILED: return commit_failed(index, result);
    }
    return -EINVAL;
}

/* -- after a crash, or a failure of the store -- */

static int recover_record(struct index *index, uint64_t sid, const struct record *record)
{
    _cleanup_(record_done) struct record old = {0};
    struct stored_row stored;
    uint64_t old_sid;
    int r = get_document(index, &record->key, &stored, &old_sid, &old);
    if (r < 0)
        return r;
    if (old_sid > sid) /* superseded; its removal was interrupted */
        return living_clusters_delete(index->clusters, sid, record);
    if (old_sid == sid)
        return living_clusters_insert(index->clusters, sid, record);
    return derive(index, sid, record, true, &stored, old_sid, &old);
}

int commit_recover(struct index *index)
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
