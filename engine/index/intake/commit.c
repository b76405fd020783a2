/* Documents into the store; the committer's.
 *
 * New contents are committed in five steps, each idempotent: what they replace, into the past;
 * their records (the commit point); passages and bags, where they are kept; their classes, postings
 * and clusters; and the files' rows that name them. What comes together takes each step together,
 * so that it shares the writes. Sids grow, so after a crash every record past `derived_sid` is
 * looked at again (commit_recovery.c). How documents go is in commit_drop.c.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/bytes.h"
#include "engine/ignore/ignore_file.h"
#include "engine/index/index_state.h"
#include "engine/index/catalogue/stored_row.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/past/leaving.h"
#include "engine/index/intake/notices.h"
#include "engine/index/intake/told_path.h"
#include "engine/index/intake/open_soon.h"
#include "engine/index/tables/left_out.h"

enum {
    SID_BLOCK = 1024,   /* sids reserved at once: what a crash may waste */
    GONE_TRIES_MAX = 8, /* of a file that its directory has and that cannot be opened */
};

static int next_sid(struct index *index, uint64_t *ret_sid)
{
    if (index->next_sid >= index->sid_end) {
        int r = meta_put_number(index->kv, "sid_end", index->next_sid + SID_BLOCK);
        if (r < 0)
            return r;
        index->sid_end = index->next_sid + SID_BLOCK;
    }
    *ret_sid = index->next_sid++;
    return 0;
}

/* -- contents that come together -- */

struct content {
    const struct record *record;
    struct file_row row; /* to be */
    struct stored_row stored;
    uint64_t old_sid; /* 0: none, or it stays: the content is the same */
    struct record old;
    const struct result *result;
    bool is_new;
};

static void contents_free(struct content *contents, size_t n)
{
    for (size_t i = 0; i < n; i++)
        record_done(&contents[i].old);
    free(contents);
}

static bool same(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, FINGERPRINT_BYTES) == 0;
}

/* The same bytes have another text where another extractor reads them. */
static bool is_as_read(const struct record *old, const struct record *record)
{
    return same(old->content_fingerprint, record->content_fingerprint) &&
           same(old->text_fingerprint, record->text_fingerprint) &&
           old->form.type == record->form.type;
}

/* Whose a file is, and since when it is known. */
static void set_origin(struct file_row *row, const struct stored_row *stored, const struct stat *st)
{
    row->owner = st->st_uid;
    row->born_ns = stored->row.born_ns ? stored->row.born_ns : file_row_ns(&st->st_ctim);
}

static int begin_content(struct index *index, const struct result *result, struct content *content)
{
    const struct record *record = &result->record;
    uint64_t old_sid, sid;
    int r = stored_row_record(index->kv, &content->stored, &old_sid, &content->old);
    if (r < 0)
        return r;
    content->record = record;
    content->result = result;
    content->is_new = !old_sid || !is_as_read(&content->old, record);
    sid = old_sid;
    if (content->is_new) {
        content->old_sid = old_sid;
        r = next_sid(index, &sid);
    }
    content->row = file_row_of(sid, record, result->racy);
    set_origin(&content->row, &content->stored, &result->st);
    content->row.extractors_id = result->extractors_id;
    content->row.read_by = result->read_by;
    return r;
}

static int put_records(struct index *index, const struct content *contents, size_t n)
{
    enum { WRITE_BYTES = 1 << 20 };
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint64_t last_sid = index->last_sid;
    int r = batch ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = largest_modulus_raise(index->kv, &index->largest_modulus,
                                  min_sketch_modulus(&contents[i].record->sketch));
    for (size_t i = 0; r == 0 && i < n; i++) {
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        struct record_key key;
        if (!contents[i].is_new)
            continue;
        r = record_encode(contents[i].record, &value);
        if (r == 0 && kv_batch_bytes(batch) + value.size_bytes > WRITE_BYTES) {
            r = kv_apply(index->kv, batch);
            kv_batch_clear(batch);
        }
        if (r == 0)
            kv_batch_put(batch, TABLE_RECORDS, record_key(&key, contents[i].row.sid),
                         kv_buf_slice(&value));
        last_sid = contents[i].row.sid;
    }
    if (r == 0)
        r = kv_apply(index->kv, batch);
    if (r == 0)
        index->last_sid = last_sid;
    return r;
}

static int remove_old_passages(struct index *index, const struct content *contents, size_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        if (contents[i].old_sid)
            r = passages_remove(index->passages, &contents[i].old_sid, 1);
    return r;
}

/* As passages: of a document that is as it was only where it has none. */
static int put_bags(struct index *index, const struct content *contents, size_t n)
{
    struct topics_row rows[RESULTS_AT_ONCE];
    uint64_t old[RESULTS_AT_ONCE];
    size_t n_rows = 0, n_old = 0;
    for (size_t i = 0; index->topics && i < n; i++) {
        const struct result *result = contents[i].result;
        const uint64_t sid = contents[i].row.sid;
        const int has = contents[i].is_new ? 0 : topics_has(index->topics, sid);
        if (has < 0)
            return has;
        if (contents[i].old_sid)
            old[n_old++] = contents[i].old_sid;
        if (!has && (result->bag || result->fragments))
            rows[n_rows++] = (struct topics_row){sid,
                                                 {result->bag, result->bag_bytes},
                                                 {result->fragments, result->fragments_bytes}};
    }
    int r = n_old ? topics_remove(index->topics, old, n_old) : 0;
    return r < 0 || n_rows == 0 ? r : topics_put(index->topics, rows, n_rows);
}

/* A document that is as it was has its passages, unless it was read without. */
static int put_passages(struct index *index, const struct content *contents, size_t n)
{
    struct passages_row rows[RESULTS_AT_ONCE];
    size_t n_rows = 0;
    int r = index->passages ? remove_old_passages(index, contents, n) : 0;
    for (size_t i = 0; r == 0 && index->passages && i < n; i++) {
        const struct result *result = contents[i].result;
        const uint64_t sid = contents[i].row.sid;
        const int has = contents[i].is_new ? 0 : passages_has(index->passages, sid);
        if (has < 0)
            return has;
        if (!has && result->passages)
            rows[n_rows++] = (struct passages_row){sid, result->passages, result->passages_bytes};
    }
    return r < 0 || n_rows == 0 ? r : passages_put(index->passages, rows, n_rows);
}

/* Clusters depend on the order of sids, so a rewritten document comes in its turn. */
static int link_contents(struct index *index, const struct content *contents, size_t n)
{
    uint64_t sids[RESULTS_AT_ONCE];
    const struct record *records[RESULTS_AT_ONCE];
    size_t n_first = 0;
    int r = 0;
    for (size_t i = 0; r == 0 && i <= n; i++) {
        if (i < n && !contents[i].is_new)
            continue;
        if (i < n && !contents[i].old_sid) {
            sids[n_first] = contents[i].row.sid;
            records[n_first++] = contents[i].record;
            continue;
        }
        if (n_first)
            r = living_clusters_insert_all(index->clusters, sids, records, n_first);
        n_first = 0;
        if (r == 0 && i < n)
            r = living_clusters_replace(index->clusters, contents[i].old_sid, &contents[i].old,
                                        contents[i].row.sid, contents[i].record);
    }
    return r;
}

static int put_files(struct index *index, const struct content *contents, size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct document_change change = {0};
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        catalogue_put_file(batch, &contents[i].record->key, &contents[i].row);
        stored_row_count(&contents[i].stored, &contents[i].row, &change);
    }
    return document_counts_apply(&index->counts, batch, &change);
}

/* Notes the contents that are about to be replaced. After a failure behind it the same is noted
 * once more, as one. */
static int note_changed(struct index *index, const struct content *contents, size_t n)
{
    struct past_event events[RESULTS_AT_ONCE];
    size_t n_events = 0;
    for (size_t i = 0; i < n; i++)
        n_events += contents[i].old_sid &&
                    leaving_changed(index, &contents[i].old, contents[i].record,
                                    &contents[i].stored, contents[i].row.owner, &events[n_events]);
    int r = past_notes_add(&index->past, events, n_events);
    for (size_t i = 0; i < n_events; i++)
        free(events[i].path);
    return r;
}

static int commit_contents(struct index *index, const struct content *contents, size_t n)
{
    int r = note_changed(index, contents, n);
    if (r == 0 && n)
        r = put_records(index, contents, n);
    if (r == 0)
        r = put_passages(index, contents, n);
    if (r == 0)
        r = put_bags(index, contents, n);
    if (r == 0 && n)
        r = link_contents(index, contents, n);
    return r < 0 || n == 0 ? r : put_files(index, contents, n);
}

/* An ignore file that has changed may leave out other names of its directory. Size and times say
 * so, or somebody else has written it: one that is only read again, as long as somebody has it open
 * or since it cannot be read, would have the directory scanned, and so be read, without end. */
static int note_ignore_file(struct index *index, const struct file_key *file,
                            const struct stored_row *stored, const struct result *result)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    const struct stat *st = &result->st;
    if (stored->exists && file_row_matches(&stored->row, st) && !result->change->is_written)
        return 0;
    int r = catalogue_links(index->kv, file, 1, &links);
    if (r < 0 || links.n_entries == 0)
        return r;
    const struct file_key *directory = &links.entries[0].parent;
    _cleanup_close_ int dirfd = open_soon_committing(index, directory);
    ignored_note_file(index, directory, dirfd, st);
    return 0;
}

/* One of the rows is damaged: how many there are before it, and why no more. */
static size_t find_sound(struct kv *kv, const struct file_key *const *files, size_t n,
                         struct stored_row *ret_stored, int *ret_error)
{
    size_t n_sound = 0;
    while (n_sound < n &&
           (*ret_error = stored_row_get(kv, files[n_sound], &ret_stored[n_sound])) == 0)
        n_sound++;
    return n_sound;
}

/* Those sketched that have a name, with their rows. Without one a file was deleted meanwhile, or
 * its entry is still to come and will note it; but for one that is open for writing, of which its
 * end has to (add_entry() of reconcile_entries.c). Returns how many, or an error; *ret_error: why
 * none that follow. */
static int look_at_sketched(struct index *index, struct result *const *results, size_t n,
                            struct result **ret_results, struct stored_row *ret_stored,
                            int *ret_error)
{
    const struct file_key *files[RESULTS_AT_ONCE];
    enum catalogue_naming naming[RESULTS_AT_ONCE];
    size_t n_sketched = 0, n_named = 0;
    for (size_t i = 0; i < n; i++)
        if (results[i]->outcome == OUTCOME_SKETCHED) {
            files[n_sketched] = &results[i]->record.key;
            ret_results[n_sketched++] = results[i];
        }
    if (n_sketched == 0)
        return 0;
    int r = catalogue_have_names(index->kv, files, n_sketched, IGNORE_FILE, naming);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_sketched; i++) {
        if (naming[i] == CATALOGUE_NAMELESS) {
            writing_set_owe(index->writing, files[i]);
            continue;
        }
        files[n_named] = files[i];
        naming[n_named] = naming[i];
        ret_results[n_named++] = ret_results[i];
    }
    r = stored_row_get_all(index->kv, files, n_named, ret_stored);
    if (r == -EUCLEAN)
        n_named = find_sound(index->kv, files, n_named, ret_stored, ret_error);
    else if (r < 0)
        return r;
    for (size_t i = 0; i < n_named; i++)
        if (naming[i] == CATALOGUE_NAMED_SO &&
            (r = note_ignore_file(index, files[i], &ret_stored[i], ret_results[i])) < 0)
            return r;
    return (int)n_named;
}

/* A result that fails does not keep those before it out. */
static int commit_sketched(struct index *index, struct result *const *results, size_t n)
{
    struct result *sketched[RESULTS_AT_ONCE];
    struct stored_row stored[RESULTS_AT_ONCE];
    int begun = 0, error = 0;
    size_t n_contents = 0;
    int n_sketched = look_at_sketched(index, results, n, sketched, stored, &error);
    if (n_sketched <= 0)
        return n_sketched < 0 ? n_sketched : error;
    struct content *contents = calloc((size_t)n_sketched, sizeof(*contents));
    if (!contents)
        return -ENOMEM;
    for (; begun == 0 && n_contents < (size_t)n_sketched; n_contents += begun == 0) {
        contents[n_contents].stored = stored[n_contents];
        begun = begin_content(index, sketched[n_contents], &contents[n_contents]);
    }
    int r = commit_contents(index, contents, n_contents);
    contents_free(contents, (size_t)n_sketched);
    return r < 0 ? r : begun < 0 ? begun : error;
}

static void log_unreadable(struct index *index, const struct file_key *file, const char *reason)
{
    _cleanup_free_ char *told = told_path(index, file);
    if (told)
        messages_warn(&index->messages, "%s: %s", told, reason);
}

/* By the reason of a result, or its error. */
static int skip_document(struct index *index, const struct result *result)
{
    const struct file_key *file = &result->change->key;
    const struct stat *st = &result->st;
    struct stored_row stored;
    struct file_row row = {.size_bytes = (uint64_t)st->st_size,
                           .mtime = st->st_mtim,
                           .ctime = st->st_ctim,
                           .racy = result->racy,
                           .extractors_id = result->extractors_id};
    if (*result->reason)
        snprintf(row.reason, sizeof(row.reason), "%s", result->reason);
    else
        snprintf(row.reason, sizeof(row.reason), "cannot be read: %s", strerror(-result->error));
    int r = stored_row_get(index->kv, file, &stored);
    bool known = r == 0 && stored.exists && strcmp(stored.row.reason, row.reason) == 0;
    set_origin(&row, &stored, st);
    if (r == 0 && stored.row.sid) {
        r = commit_drop_document(index, file);
        stored = (struct stored_row){0};
    }
    if (r == 0)
        r = stored_row_put(&index->counts, file, &stored, &row);
    if (r == 0 && !known && !is_left_out(row.reason))
        log_unreadable(index, file, row.reason);
    return r;
}

static int commit_failed(struct index *index, const struct result *result)
{
    const struct file_key *file = &result->change->key;
    enum catalogue_naming naming;
    int r = catalogue_have_names(index->kv, &file, 1, IGNORE_FILE, &naming);
    if (r == 0 && naming == CATALOGUE_NAMED_SO) {
        struct stored_row stored;
        r = stored_row_get(index->kv, file, &stored);
        if (r == 0)
            r = note_ignore_file(index, file, &stored, result);
    }
    if (r < 0)
        return r;
    if (naming == CATALOGUE_NAMELESS) {
        writing_set_owe(index->writing, file);
        return 0;
    }
    return skip_document(index, result);
}

/* It is read when it has a name. The entry that is still to come will note it, or has come since.
 */
static int commit_nameless(struct index *index, const struct result *result)
{
    const struct file_key *file = &result->change->key;
    enum catalogue_naming naming;
    int r = catalogue_have_names(index->kv, &file, 1, NULL, &naming);
    if (r == 0 && naming == CATALOGUE_NAMELESS)
        writing_set_owe(index->writing, file);
    else if (r == 0)
        index_note_unknown(index, file, result->change->owner, result->change);
    return r;
}

/* Another content that came meanwhile has a row of its own. */
static int commit_same(struct index *index, const struct result *result)
{
    struct stored_row stored;
    int r = stored_row_get(index->kv, &result->change->key, &stored);
    if (r < 0 || stored.row.sid != result->sid)
        return r;
    struct file_row row = stored.row;
    row.extractors_id = result->extractors_id;
    row.read_by = result->read_by;
    set_origin(&row, &stored, &result->st);
    return stored_row_put(&index->counts, &result->change->key, &stored, &row);
}

/* The file is gone, and perhaps nobody said so: look at its names again. Where they still lead to
 * it, round after round, it is there and cannot be read. */
static int commit_gone(struct index *index, const struct result *result)
{
    enum { LINKS_AT_ONCE = 256 }; /* of millions that a file may have */
    const struct change *change = result->change;
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    int r = catalogue_links(index->kv, &change->key, LINKS_AT_ONCE, &links);
    if (r == 0 && links.n_entries && change->n_tries >= GONE_TRIES_MAX)
        return skip_document(
            index, &(struct result){.change = result->change, .error = -ESTALE, .st = result->st});
    while (r == 0) {
        for (size_t i = 0; i < links.n_entries; i++)
            if (!index_note(index, CHANGE_ENTRY, &links.entries[i].parent, links.entries[i].name,
                            change->owner, change))
                return 0;
        if (links.n_entries < LINKS_AT_ONCE)
            break;
        const struct catalogue_entry *last = &links.entries[links.n_entries - 1];
        struct catalogue_list more = {0};
        r = catalogue_links_beside(index->kv, &change->key, &last->parent, last->name, false,
                                   LINKS_AT_ONCE, &more);
        catalogue_list_done(&links);
        links = more;
    }
    return r;
}

int commit_results(struct index *index, struct result *const *results, size_t n)
{
    assert(n <= RESULTS_AT_ONCE);
    int r = n ? commit_sketched(index, results, n) : 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        if (results[i]->outcome == OUTCOME_GONE)
            r = commit_gone(index, results[i]);
        else if (results[i]->outcome == OUTCOME_FAILED)
            r = commit_failed(index, results[i]);
        else if (results[i]->outcome == OUTCOME_NAMELESS)
            r = commit_nameless(index, results[i]);
        else if (results[i]->outcome == OUTCOME_SAME)
            r = commit_same(index, results[i]);
    }
    return r;
}
