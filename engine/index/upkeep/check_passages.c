/* Passages: each row of a document decodes and is of a document that there is, and its postings are
 * those that there are. Postings of documents without a row do no harm, and are counted. Documents
 * that have none are read by the next scan, and those of which a row of notes says that their
 * postings may be in memory alone are noted again by the next start. */
#include <errno.h>
#include <string.h>

#include "engine/index/postings/passages.h"
#include "engine/index/tables/sid.h"
#include "engine/index/upkeep/check.h"

struct passages_check {
    struct check *check;
    struct passages_bucket bucket; /* rows of it that were walked by */
    unsigned number;               /* of the bucket */
    bool telling;                  /* of rows that are none */
    int (*visit)(struct passages_check *passages, const struct passages_entry *entry);
    struct check_tally *tally;  /* postings that there are to be, less those that are */
    struct number_vector noted; /* documents that rows of notes name */
};

static void passages_check_done(struct passages_check *passages)
{
    check_tally_free(passages->tally);
    passages_bucket_done(&passages->bucket);
    number_vector_done(&passages->noted);
}

/* -- rows of documents -- */

static int take_notes(struct passages_check *passages, const struct kv_entry *row)
{
    const uint8_t *sids = row->value.data;
    int r = row->value.size_bytes % 8 ? check_bad_row(passages->check, TABLE_PASSAGES_OF, row) : 0;
    for (size_t at = 0; r == 0 && at + 8 <= row->value.size_bytes; at += 8)
        r = number_vector_push(&passages->noted, get_be64(sids + at));
    return r;
}

/* Returns 1 with the sketch of a document; 0: it is no row of one, or damaged, which is told when
 * telling; or an error. */
static int decode_row(struct passages_check *passages, const struct kv_entry *row, bool telling,
                      uint64_t *ret_sid, struct passage_sketch *ret_sketch)
{
    int r = row->key.size_bytes == 8 ? 0 : -EUCLEAN;
    if (r == 0) {
        *ret_sid = get_be64(row->key.data);
        if (*ret_sid & PASSAGES_NOTED_MARK)
            return telling ? take_notes(passages, row) : 0;
        r = passage_sketch_decode(row->value.data, row->value.size_bytes, ret_sketch);
    }
    if (r == -EUCLEAN)
        return telling ? check_bad_row(passages->check, TABLE_PASSAGES_OF, row) : 0;
    return r < 0 ? r : 1;
}

static void tally_all(struct check_tally *tally, uint64_t sid, const struct passage_sketch *sketch)
{
    for (size_t i = 0; i < sketch->n_fingerprints; i++) {
        const uint64_t posting[] = {sketch->fingerprints[i].fingerprint, sid};
        check_tally_add(tally, sid, posting, sizeof(posting));
    }
}

/* One that comes again in a document has one posting. */
static void drop_repeated(struct passage_sketch *sketch)
{
    _cleanup_(number_vector_done) struct number_vector all = {0};
    for (size_t i = 0; i < sketch->n_fingerprints; i++)
        if (number_vector_push(&all, sketch->fingerprints[i].fingerprint) < 0)
            return; /* more is then expected than there is; the look-ups tell */
    number_vector_sort_unique(&all);
    sketch->n_fingerprints = all.n_numbers;
    for (size_t i = 0; i < all.n_numbers; i++)
        sketch->fingerprints[i].fingerprint = all.numbers[i];
}

static int take_document(void *user, const struct kv_entry *row)
{
    struct passages_check *passages = user;
    struct check *check = passages->check;
    _cleanup_(passage_sketch_done) struct passage_sketch sketch = {0};
    _cleanup_(record_done) struct record record = {0};
    uint64_t sid;
    int r = decode_row(passages, row, true, &sid, &sketch);
    if (r <= 0)
        return r;
    drop_repeated(&sketch);
    tally_all(passages->tally, sid, &sketch);
    r = check_record(check, sid, &record);
    if (r != 0 || check->unreadable[TABLE_RECORDS] || check_is_underived(check, sid))
        return r < 0 ? r : 0;
    return check_found(check, CHECK_PASSAGES, TABLE_PASSAGES_OF, NULL,
                       "document %llu has passages and does not exist", (unsigned long long)sid);
}

/* -- postings -- */

static int end_bucket(struct passages_check *passages)
{
    struct passages_bucket *bucket = &passages->bucket;
    int r = 0;
    passages_bucket_settle(bucket);
    for (size_t i = 0; r == 0 && i < bucket->n_entries; i++)
        r = passages->visit(passages, &bucket->entries[i]);
    bucket->n_entries = 0;
    return r;
}

static int take_row(void *user, const struct kv_entry *row)
{
    struct passages_check *passages = user;
    const unsigned number = row->key.size_bytes < 2 ? 0 : get_be16(row->key.data);
    int r = number == passages->number ? 0 : end_bucket(passages);
    if (r < 0)
        return r;
    passages->number = number;
    r = passages_bucket_add(&passages->bucket, row, NULL);
    return r != -EUCLEAN       ? r
           : passages->telling ? check_bad_row(passages->check, TABLE_PASSAGES, row)
                               : 0;
}

/* Visit all postings, each once. */
static int each_posting(struct passages_check *passages, bool telling,
                        int (*visit)(struct passages_check *passages,
                                     const struct passages_entry *entry))
{
    passages->visit = visit;
    passages->telling = telling;
    int r =
        check_each_row(passages->check, TABLE_PASSAGES, (struct kv_slice){0}, take_row, passages);
    return r < 0 ? r : end_bucket(passages);
}

static int take_posting(struct passages_check *passages, const struct passages_entry *entry)
{
    const uint64_t posting[] = {entry->fingerprint, entry->sid};
    passages->check->counts->postings_p++;
    check_tally_take(passages->tally, entry->sid, posting, sizeof(posting));
    return 0;
}

/* -- one by one -- */

/* Returns 1, 0 where the document has no row or a damaged one, or an error. */
static int get_row(struct check *check, uint64_t sid, struct passage_sketch *ret_sketch)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t bytes[8];
    const struct kv_slice key = {bytes, sizeof(bytes)};
    put_be64(bytes, sid);
    int r = check_look_up(check, TABLE_PASSAGES_OF, &key, 1, &value);
    if (r != 0 || !value.data)
        return r < 0 ? r : 0;
    r = passage_sketch_decode(value.data, value.size_bytes, ret_sketch);
    return r == -EUCLEAN ? 0 : r < 0 ? r : 1;
}

static bool has_passage(const struct passage_sketch *sketch, uint64_t fingerprint)
{
    for (size_t i = 0; i < sketch->n_fingerprints; i++)
        if (sketch->fingerprints[i].fingerprint == fingerprint)
            return true;
    return false;
}

static int look_up_owner(struct passages_check *passages, const struct passages_entry *entry)
{
    struct check *check = passages->check;
    _cleanup_(passage_sketch_done) struct passage_sketch sketch = {0};
    const uint64_t posting[] = {entry->fingerprint, entry->sid};
    if (check_tally_is_even(passages->tally, entry->sid))
        return 0;
    int r = get_row(check, entry->sid, &sketch);
    if (r < 0 || (r > 0 && has_passage(&sketch, entry->fingerprint)))
        return r < 0 ? r : 0;
    check_tally_add(passages->tally, entry->sid, posting, sizeof(posting));
    check->counts->dead += r == 0;
    return r == 0 ? 0
                  : check_found(check, CHECK_PASSAGES, TABLE_PASSAGES, NULL,
                                "document %llu has a posting of a passage that it has not",
                                (unsigned long long)entry->sid);
}

static int count_missing(struct check *check, uint64_t sid, const struct passage_sketch *sketch,
                         size_t *n_missing)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < sketch->n_fingerprints; i++) {
        struct passages_bucket bucket = {0};
        bool has = false;
        r = passages_read_bucket(check->kv, sketch->fingerprints[i].fingerprint, &bucket);
        for (size_t k = 0; k < bucket.n_entries; k++)
            has |= bucket.entries[k].sid == sid;
        *n_missing += r == 0 && !has;
        passages_bucket_done(&bucket);
    }
    return r == -EUCLEAN ? 0 : r; /* a row that is none has been told */
}

static int look_up_missing(void *user, const struct kv_entry *row)
{
    struct passages_check *passages = user;
    struct check *check = passages->check;
    _cleanup_(passage_sketch_done) struct passage_sketch sketch = {0};
    uint64_t sid;
    size_t n_missing = 0;
    int r = decode_row(passages, row, false, &sid, &sketch);
    if (r <= 0 || check_tally_is_even(passages->tally, sid) ||
        number_vector_finds(&passages->noted, sid))
        return r < 0 ? r : 0;
    r = count_missing(check, sid, &sketch, &n_missing);
    if (r < 0 || n_missing == 0)
        return r;
    return check_found(check, CHECK_PASSAGES, TABLE_PASSAGES, NULL,
                       "lacks %zu of the passages of document %llu", n_missing,
                       (unsigned long long)sid);
}

static int compare(struct passages_check *passages)
{
    struct check *check = passages->check;
    const struct kv_slice from = {0};
    int r = 0;
    number_vector_sort_unique(&passages->noted);
    if (check_tally_all_even(passages->tally) || check->unreadable[TABLE_PASSAGES] ||
        check->unreadable[TABLE_PASSAGES_OF])
        return 0;
    r = each_posting(passages, false, look_up_owner);
    if (r == 0 && !check_tally_all_even(passages->tally))
        r = check_each_row(check, TABLE_PASSAGES_OF, from, look_up_missing, passages);
    return r;
}

int check_passages(struct check *check)
{
    const struct kv_slice from = {0};
    uint64_t bound;
    int r = optional_tables_read(check->kv, &passages_tables, &bound);
    if (r < 0)
        return check_read_failed(check, TABLE_META, r);
    if (!bound)
        return check_none_kept(check, CHECK_PASSAGES, &passages_tables);
    _cleanup_(passages_check_done) struct passages_check passages = {.check = check,
                                                                     .tally = check_tally_new()};
    if (!passages.tally)
        return -ENOMEM;
    r = check_each_row(check, TABLE_PASSAGES_OF, from, take_document, &passages);
    if (r == 0)
        r = each_posting(&passages, true, take_posting);
    return r < 0 ? r : compare(&passages);
}
