/* The passages of documents, and the notes of their postings.
 *
 * Postings are written as those of sketches are (postings.c), but by one thread, and what they
 * derive from is a row of the same store, as a record has nothing of passages.
 *
 * Example: documents 7 and 8 come together. A row says that 7 and 8 are noted, then come their two
 * rows with all their fingerprints, then the notes in memory. A crash here: the next opening finds
 * the row of notes, and notes the fingerprints of 7 and 8 again. A flush writes a sorted run, and
 * removes the row of notes.
 *
 * Notes are kept as they come. Who asks first has them put into a hash by fingerprint
 * (postings_delta.h): in a scan, where nobody asks, that would be a quarter of what passages take.
 *
 * Cost of a document of 500 words, with 56 fingerprints: 15 us of processor time in all, on the
 * disk 0.8 KB where its text has 3 (docs/BENCHMARKS.md).
 *
 * Left out: a posting a row, with which it takes 32 us and 1.5 KB (measured); and a cap on stored
 * lists, as it could not be told of a list that was cut who is in it when others go. Who asks reads
 * no more than the beginning of a list.
 */
#include "engine/index/postings/passages.h"

#include <errno.h>
#include <string.h>

#include "base/room.h"
#include "engine/index/postings/noted_postings.h"
#include "engine/index/postings/passages_private.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/table_walk.h"

/* -- opening -- */

static int forget(struct kv *kv)
{
    int r = meta_delete(kv, PASSAGES_RUNS_META);
    return r < 0 ? r : meta_delete(kv, PASSAGES_JOINED_META);
}

const struct optional_tables passages_tables = {.name = PASSAGES_META,
                                                .what = "passages",
                                                .least = PASSAGE_WORDS,
                                                .most = PASSAGE_BOUND_MAX,
                                                .tables = {TABLE_PASSAGES_OF, TABLE_PASSAGES},
                                                .n_tables = 2,
                                                .forget = forget};

static int read_number(struct kv *kv, const char *name, uint64_t *ret_number)
{
    int r = meta_get_number(kv, name, ret_number);
    if (r == -ENOENT)
        *ret_number = 1;
    return r == -ENOENT ? 0 : r;
}

static int note(struct passages *passages, uint64_t sid, const struct passage_sketch *sketch,
                bool removed)
{
    LOCKED(&passages->lock);
    if (!MAKE_ROOM(passages->notes, passages->notes_room,
                   passages->n_notes + sketch->n_fingerprints))
        return -ENOMEM;
    for (size_t i = 0; i < sketch->n_fingerprints; i++)
        passages->notes[passages->n_notes++] = (struct note){
            sketch->fingerprints[i].fingerprint, sid | (removed ? PASSAGES_REMOVED : 0)};
    return 0;
}

/* Many long documents that come together do not wait for all to be noted: the row that names them
 * stays until the flush after this one. */
static int note_row(struct passages *passages, uint64_t sid, const void *bytes, size_t size_bytes)
{
    _cleanup_(passage_sketch_done) struct passage_sketch sketch = {0};
    int r = passage_sketch_decode(bytes, size_bytes, &sketch);
    if (r == 0)
        r = note(passages, sid, &sketch, false);
    return r < 0 || !passages_flush_due(passages) ? r : passages_flush(passages);
}

static int note_again(struct passages *passages, const struct kv_slice *sids)
{
    const uint8_t *bytes = sids->data;
    int r = sids->size_bytes % 8 ? -EUCLEAN : 0;
    for (size_t at = 0; r == 0 && at < sids->size_bytes; at += 8) {
        _cleanup_(kv_buf_done) struct kv_buf value = {0};
        const struct kv_slice key = {bytes + at, 8};
        r = kv_get(passages->kv, TABLE_PASSAGES_OF, key, &value);
        if (r == 0)
            r = note_row(passages, get_be64(bytes + at), value.data, value.size_bytes);
        else if (r == -ENOENT)
            r = 0;
    }
    return r;
}

int passages_recover(struct passages *passages)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct kv_entry row;
    uint8_t key[8];
    int r = table_walk_begin(&walk, passages->kv, TABLE_PASSAGES_OF,
                             passages_number_key(key, PASSAGES_NOTED_MARK));
    passages->noted.n_numbers = 0;
    while (r >= 0 && (r = table_walk_next(&walk, &row)) > 0) {
        r = row.key.size_bytes == 8 ? note_again(passages, &row.value) : -EUCLEAN;
        if (r == 0)
            r = number_vector_push(&passages->noted, get_be64(row.key.data));
        if (r == 0)
            passages->next_noted = get_be64(row.key.data) + 1;
    }
    return r;
}

int passages_open(struct kv *kv, const struct policy *policy, unsigned wanted,
                  struct passages **ret_passages)
{
    uint64_t bound = wanted;
    int r = optional_tables_open(kv, &passages_tables, &bound);
    *ret_passages = NULL;
    if (r < 0 || !bound)
        return r;
    struct passages *passages = calloc(1, sizeof(*passages));
    if (!passages)
        return -ENOMEM;
    pthread_mutex_init(&passages->lock, NULL);
    passages->kv = kv;
    passages->bound = (unsigned)bound;
    passages->join_step_us = PASSAGES_JOIN_STEP_US;
    passages->next_noted = PASSAGES_NOTED_MARK;
    r = read_number(kv, PASSAGES_RUNS_META, &passages->next_run);
    if (r == 0)
        r = read_number(kv, PASSAGES_JOINED_META, &passages->joined_run);
    if (r == 0)
        r = passage_hash_new(policy, &passages->hash);
    if (r < 0)
        passages_close(passages);
    else
        *ret_passages = passages;
    return r;
}

void passages_close(struct passages *passages)
{
    if (!passages)
        return;
    shingle_hash_free(passages->hash);
    postings_delta_free(passages->delta);
    free(passages->notes);
    number_vector_done(&passages->noted);
    pthread_mutex_destroy(&passages->lock);
    free(passages);
}

const struct shingle_hash *passages_hash(const struct passages *passages)
{
    return passages->hash;
}

unsigned passages_bound(const struct passages *passages)
{
    return passages->bound;
}

/* -- writing -- */

static int put_noted(struct passages *passages, const struct passages_row *rows, size_t n,
                     uint64_t noted)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    _cleanup_free_ uint8_t *sids = malloc(8 * n);
    uint8_t key[8];
    if (!batch || !sids)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        put_be64(sids + 8 * i, rows[i].sid);
    kv_batch_put(batch, TABLE_PASSAGES_OF, passages_number_key(key, noted),
                 (struct kv_slice){sids, 8 * n});
    return kv_apply(passages->kv, batch);
}

static int put_rows(struct passages *passages, const struct passages_row *rows, size_t n)
{
    enum { WRITE_BYTES = 1 << 20 };
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    int r = batch ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint8_t key[8];
        if (kv_batch_count(batch) && kv_batch_bytes(batch) + rows[i].size_bytes > WRITE_BYTES) {
            r = kv_apply(passages->kv, batch);
            kv_batch_clear(batch);
        }
        kv_batch_put(batch, TABLE_PASSAGES_OF, passages_number_key(key, rows[i].sid),
                     (struct kv_slice){rows[i].bytes, rows[i].size_bytes});
    }
    return r < 0 ? r : kv_apply(passages->kv, batch);
}

/* The row of notes of a call that failed stays: a flush does not know of it. */
int passages_put(struct passages *passages, const struct passages_row *rows, size_t n)
{
    const uint64_t noted = passages->next_noted;
    if (n == 0)
        return 0;
    passages->next_noted++;
    int r = put_noted(passages, rows, n, noted);
    if (r == 0)
        r = put_rows(passages, rows, n);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = note_row(passages, rows[i].sid, rows[i].bytes, rows[i].size_bytes);
    return r < 0 ? r : number_vector_push(&passages->noted, noted);
}

/* The row goes first: postings that are left behind do no harm, but a row whose postings are gone
 * would say that all are there. */
static int remove_one(struct passages *passages, uint64_t sid)
{
    _cleanup_(passage_sketch_done) struct passage_sketch sketch = {0};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    uint8_t key[8];
    int r = batch ? passages_get(passages, sid, &sketch) : -ENOMEM;
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    kv_batch_delete(batch, TABLE_PASSAGES_OF, passages_number_key(key, sid));
    r = kv_apply(passages->kv, batch);
    return r < 0 ? r : note(passages, sid, &sketch, true);
}

int passages_remove(struct passages *passages, const uint64_t *sids, size_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = remove_one(passages, sids[i]);
        if (r == 0 && passages_flush_due(passages)) /* long ones do not wait for all of them */
            r = passages_flush(passages);
    }
    return r;
}

/* -- reading -- */

int passages_get(struct passages *passages, uint64_t sid, struct passage_sketch *ret_sketch)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[8];
    int r = kv_get(passages->kv, TABLE_PASSAGES_OF, passages_number_key(key, sid), &value);
    return r < 0 ? r : passage_sketch_decode(value.data, value.size_bytes, ret_sketch);
}

int passages_has(struct passages *passages, uint64_t sid)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[8];
    int r = kv_get(passages->kv, TABLE_PASSAGES_OF, passages_number_key(key, sid), &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

struct wanted {
    struct passages_bucket bucket;
    const uint64_t *fingerprint;
    size_t most, n_removed;
};

static int take_row(void *user, const struct kv_entry *row)
{
    struct wanted *wanted = user;
    size_t n = wanted->bucket.n_entries;
    int r = passages_bucket_add(&wanted->bucket, row, wanted->fingerprint);
    for (; r == 0 && n < wanted->bucket.n_entries; n++)
        wanted->n_removed += wanted->bucket.entries[n].removed;
    return r == 0 && wanted->bucket.n_entries > 2 * wanted->n_removed + wanted->most ? 1 : r;
}

/* Under the lock. While nobody asks no note is sought, and none costs more than its place. */
static int seek_notes(struct passages *passages)
{
    int r = passages->delta || !passages->n_notes
                ? 0
                : postings_delta_new(PASSAGES_FLUSH_AFTER, &passages->delta);
    while (r == 0 && passages->n_sought < passages->n_notes) {
        const struct note *note = &passages->notes[passages->n_sought];
        r = postings_delta_note(passages->delta, note->fingerprint,
                                note->sid_state & ~PASSAGES_REMOVED,
                                note->sid_state & PASSAGES_REMOVED);
        passages->n_sought += r == 0;
    }
    return r;
}

static int read_notes(struct passages *passages, uint64_t fingerprint, struct noted_postings *noted,
                      struct number_vector *sids)
{
    int r = noted_postings_init(noted, 1);
    {
        LOCKED(&passages->lock);
        if (r == 0)
            r = seek_notes(passages);
        const struct postings_delta *const delta = passages->delta;
        if (r == 0)
            r = noted_postings_collect(noted, fingerprint, &delta, 1, 0);
    }
    if (r < 0)
        return r;
    noted_postings_settle(noted);
    return noted_postings_take_added(noted, 0, sids);
}

static int read_some(struct passages *passages, uint64_t fingerprint, size_t most,
                     struct number_vector *sids)
{
    _cleanup_(noted_postings_done) struct noted_postings noted = {0};
    struct wanted wanted = {.fingerprint = &fingerprint, .most = most};
    sids->n_numbers = 0;
    /* Before the store: what is noted may come into it meanwhile, and does not go back. */
    int r = read_notes(passages, fingerprint, &noted, sids);
    if (r == 0)
        r = passages_each_row(passages->kv, passages_bucket_of(fingerprint), UINT64_MAX, take_row,
                              &wanted);
    if (r >= 0)
        passages_bucket_settle(&wanted.bucket);
    for (size_t i = 0; r >= 0 && i < wanted.bucket.n_entries; i++)
        if (!noted_postings_hide(&noted, 0, wanted.bucket.entries[i].sid)) {
            const int pushed = number_vector_push(sids, wanted.bucket.entries[i].sid);
            r = pushed < 0 ? pushed : r;
        }
    passages_bucket_done(&wanted.bucket);
    if (r >= 0)
        number_vector_sort_unique(sids);
    return r;
}

/* Some of what is read may be removed by what is not. */
int passages_with(struct passages *passages, uint64_t fingerprint, size_t most,
                  struct number_vector *sids)
{
    size_t limit = most;
    int r;
    while ((r = read_some(passages, fingerprint, limit, sids)) > 0 && sids->n_numbers < most)
        limit = limit < SIZE_MAX / 8 ? 2 * limit + 1 : limit;
    return r;
}
