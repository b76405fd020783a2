/* Postings of passages: written as those of sketches are (postings.c), but by one thread, and so
 * with one delta; and what they derive from is a row of the same store, as a record has nothing of
 * passages.
 *
 * Example: documents 7 and 8 come together. A row says that 7 and 8 are noted, then come their two
 * rows with all their fingerprints, then the notes in memory. A crash here: the next opening finds
 * the row of notes, and notes the fingerprints of 7 and 8 again. A flush writes a sorted run, and
 * removes the row of notes.
 *
 * Cost of a document of 500 words, with 56 fingerprints: two rows of 350 and of 8 bytes, 56 notes
 * of 20 ns and their share of a run, 0.2 us each; on the disk some 0.9 KB of 3 KB of text.
 *
 * Left out: blocks of many postings, which would have to be read to be changed; and a cap on stored
 * lists, as it could not be told of a list that was cut who is in it when others go. Who asks reads
 * no more than the beginning of a list.
 */
#include "engine/index/postings/passages.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/index/postings/noted_postings.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/table_walk.h"

enum {
    FLUSH_AFTER = 1 << 20, /* 30 MB of notes, of some 20,000 documents of 500 words */
    SID_AT = PASSAGE_FINGERPRINT_BITS / 8,
    READ_MOST = 4096, /* postings at once */
};

struct passages {
    struct kv *kv;
    struct shingle_hash *hash;
    unsigned bound;
    pthread_rwlock_t lock; /* of the delta; never held over a store call */
    struct postings_delta *delta;
    struct number_vector
        noted;           /* the committer's: rows whose notes are in the delta, by their keys */
    uint64_t next_noted; /* the committer's: the next of these */
};

static struct kv_slice number_key(uint8_t key[8], uint64_t number)
{
    put_be64(key, number);
    return (struct kv_slice){key, 8};
}

/* -- opening -- */

int passages_read_bound(struct kv *kv, unsigned *ret_bound)
{
    uint64_t number;
    int r = meta_get_number(kv, PASSAGES_META, &number);
    if (r == -ENOENT)
        number = 0;
    else if (r < 0)
        return r;
    if (number & PASSAGES_NOTED_MARK)
        number = 0;
    if (number && (number < PASSAGE_WORDS || number > PASSAGE_BOUND_MAX))
        return -EUCLEAN;
    *ret_bound = (unsigned)number;
    return 0;
}

struct removal {
    struct table_walk walk;
};

static int next_removed(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct removal *removal = user;
    *ret_delete = true;
    return table_walk_next(&removal->walk, ret_entry);
}

static int remove_table(struct kv *kv, unsigned table)
{
    struct removal removal = {0};
    int r = table_walk_begin(&removal.walk, kv, table, (struct kv_slice){0});
    if (r == 0)
        r = kv_bulk_load(kv, table, next_removed, &removal);
    table_walk_done(&removal.walk);
    return r;
}

/* The mark is put before the first row goes: what is left counts as none. */
static int remove_all(struct kv *kv)
{
    uint64_t number;
    int r = meta_get_number(kv, PASSAGES_META, &number);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    r = meta_put_number(kv, PASSAGES_META, number | PASSAGES_NOTED_MARK);
    if (r == 0)
        r = remove_table(kv, TABLE_PASSAGES);
    if (r == 0)
        r = remove_table(kv, TABLE_PASSAGES_OF);
    return r < 0 ? r : meta_delete(kv, PASSAGES_META);
}

static int begin(struct kv *kv, unsigned *wanted)
{
    unsigned stored;
    int r = passages_read_bound(kv, &stored);
    if (r < 0)
        return r;
    if (*wanted == PASSAGES_AS_STORED)
        *wanted = stored;
    if (*wanted != stored || !stored)
        r = remove_all(kv);
    return r < 0 || !*wanted || *wanted == stored ? r : meta_put_number(kv, PASSAGES_META, *wanted);
}

static int note(struct passages *passages, uint64_t sid, const struct passage_sketch *sketch,
                bool removed)
{
    int r = 0;
    pthread_rwlock_wrlock(&passages->lock);
    for (size_t i = 0; r == 0 && i < sketch->n_fingerprints; i++)
        r = postings_delta_note(passages->delta, sketch->fingerprints[i].fingerprint, sid, removed);
    pthread_rwlock_unlock(&passages->lock);
    return r;
}

static int note_row(struct passages *passages, uint64_t sid, const void *bytes, size_t size_bytes)
{
    _cleanup_(passage_sketch_done) struct passage_sketch sketch = {0};
    int r = passage_sketch_decode(bytes, size_bytes, &sketch);
    return r < 0 ? r : note(passages, sid, &sketch, false);
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
                             number_key(key, PASSAGES_NOTED_MARK));
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
    int r = begin(kv, &wanted);
    *ret_passages = NULL;
    if (r < 0 || !wanted)
        return r;
    struct passages *passages = calloc(1, sizeof(*passages));
    if (!passages)
        return -ENOMEM;
    pthread_rwlock_init(&passages->lock, NULL);
    passages->kv = kv;
    passages->bound = wanted;
    passages->next_noted = PASSAGES_NOTED_MARK;
    r = passage_hash_new(policy, &passages->hash);
    if (r == 0)
        r = postings_delta_new(FLUSH_AFTER, &passages->delta);
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
    number_vector_done(&passages->noted);
    pthread_rwlock_destroy(&passages->lock);
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
    kv_batch_put(batch, TABLE_PASSAGES_OF, number_key(key, noted), (struct kv_slice){sids, 8 * n});
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
        kv_batch_put(batch, TABLE_PASSAGES_OF, number_key(key, rows[i].sid),
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
    kv_batch_delete(batch, TABLE_PASSAGES_OF, number_key(key, sid));
    r = kv_apply(passages->kv, batch);
    return r < 0 ? r : note(passages, sid, &sketch, true);
}

int passages_remove(struct passages *passages, const uint64_t *sids, size_t n)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++)
        r = remove_one(passages, sids[i]);
    return r;
}

bool passages_flush_due(const struct passages *passages)
{
    return postings_delta_count(passages->delta) >= FLUSH_AFTER;
}

struct run_source {
    struct postings_run run;
    uint8_t key[PASSAGES_KEY_BYTES];
};

static int next_posting(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct run_source *source = user;
    uint64_t fingerprint, sid;
    if (!postings_run_next(&source->run, &fingerprint, &sid, ret_delete))
        return 0;
    passages_key(source->key, fingerprint, sid);
    *ret_entry = (struct kv_entry){.key = {source->key, PASSAGES_KEY_BYTES}, .value = {"", 0}};
    return 1;
}

static int write_run(struct passages *passages)
{
    struct run_source source;
    unsigned n_tries = 0;
    int r = postings_run_init(&source.run, passages->delta);
    if (r < 0)
        return r;
    do {
        postings_run_rewind(&source.run);
        r = kv_bulk_load(passages->kv, TABLE_PASSAGES, next_posting, &source);
    } while (kv_retry_wanted(r, &n_tries));
    postings_run_done(&source.run);
    return r;
}

static int drop_noted(struct passages *passages)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    if (!batch)
        return -ENOMEM;
    for (size_t i = 0; i < passages->noted.n_numbers; i++) {
        uint8_t key[8];
        kv_batch_delete(batch, TABLE_PASSAGES_OF, number_key(key, passages->noted.numbers[i]));
    }
    int r = kv_apply(passages->kv, batch);
    if (r == 0)
        passages->noted.n_numbers = 0;
    return r;
}

int passages_flush(struct passages *passages)
{
    struct postings_delta *fresh = NULL;
    int r = postings_delta_count(passages->delta) ? write_run(passages) : 0;
    if (r == 0 && passages->noted.n_numbers)
        r = drop_noted(passages);
    if (r < 0 || postings_delta_count(passages->delta) == 0)
        return r;
    r = postings_delta_new(FLUSH_AFTER, &fresh);
    if (r < 0)
        return r;
    pthread_rwlock_wrlock(&passages->lock);
    struct postings_delta *written = passages->delta;
    passages->delta = fresh;
    pthread_rwlock_unlock(&passages->lock);
    postings_delta_free(written);
    return 0;
}

/* -- reading -- */

int passages_get(struct passages *passages, uint64_t sid, struct passage_sketch *ret_sketch)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[8];
    int r = kv_get(passages->kv, TABLE_PASSAGES_OF, number_key(key, sid), &value);
    return r < 0 ? r : passage_sketch_decode(value.data, value.size_bytes, ret_sketch);
}

int passages_has(struct passages *passages, uint64_t sid)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[8];
    int r = kv_get(passages->kv, TABLE_PASSAGES_OF, number_key(key, sid), &value);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int take_page(const struct kv_page *page, const struct noted_postings *noted,
                     struct number_vector *sids, uint64_t *last)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < page->n_entries; i++) {
        const struct kv_slice *key = &page->entries[i].key;
        if (key->size_bytes != PASSAGES_KEY_BYTES)
            return -EUCLEAN;
        r = sid_decode((const uint8_t *)key->data + SID_AT, last);
        if (r == 0 && !noted_postings_hide(noted, 0, *last))
            r = number_vector_push(sids, *last);
    }
    return r;
}

static int read_notes(struct passages *passages, uint64_t fingerprint, struct noted_postings *noted,
                      struct number_vector *added)
{
    int r = noted_postings_init(noted, 1);
    pthread_rwlock_rdlock(&passages->lock);
    const struct postings_delta *const delta = passages->delta;
    if (r == 0)
        r = noted_postings_collect(noted, fingerprint, &delta, 1, 0);
    pthread_rwlock_unlock(&passages->lock);
    if (r < 0)
        return r;
    noted_postings_settle(noted);
    return noted_postings_take_added(noted, 0, added);
}

int passages_with(struct passages *passages, uint64_t fingerprint, uint64_t *after, size_t most,
                  struct number_vector *sids)
{
    _cleanup_(noted_postings_done) struct noted_postings noted = {0};
    _cleanup_(number_vector_done) struct number_vector added = {0};
    _cleanup_(kv_page_done) struct kv_page page = {0};
    uint8_t from[PASSAGES_KEY_BYTES], to[PASSAGES_KEY_BYTES];
    /* Before the store: what is noted may come into it meanwhile, and does not go back. */
    int r = read_notes(passages, fingerprint, &noted, &added);
    if (r < 0)
        return r;
    passages_key(from, fingerprint, *after + 1);
    passages_key(to, fingerprint, UINT64_MAX);
    const struct kv_range range = {{from, sizeof(from)}, {to, sizeof(to)}};
    uint64_t last = *after;
    sids->n_numbers = 0;
    r = kv_scan(passages->kv, TABLE_PASSAGES, &range, most < READ_MOST ? most : READ_MOST, &page);
    if (r == 0)
        r = take_page(&page, &noted, sids, &last);
    const bool more = page.more && page.n_entries > 0;
    for (size_t i = 0; r == 0 && i < added.n_numbers; i++)
        if (added.numbers[i] > *after && (!more || added.numbers[i] <= last))
            r = number_vector_push(sids, added.numbers[i]);
    if (r < 0)
        return r;
    number_vector_sort_unique(sids);
    *after = last;
    return more;
}
