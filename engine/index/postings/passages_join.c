/* Runs of passages are joined.
 *
 * A run has few postings in each bucket, and removals stand beside what they remove. So from time
 * to time the rows of each bucket are joined, some buckets at once: first the new row is written,
 * then the old ones are removed. A crash in between leaves both, which say the same.
 *
 * A bucket has the more postings the more documents there are, a millisecond of them where it has
 * ten thousand: so a step ends by the clock, behind one bucket or more. */
#include "engine/index/postings/passages_private.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "engine/index/tables/meta.h"
#include "engine/index/tables/schema.h"

enum {
    N_BUCKETS = 1 << 16,
    JOINED_RUNS = 32,     /* when there are so many all are joined */
    JOINED_BUCKETS = 256, /* at once, or as many as a step takes */
};

struct joining {
    struct passages *passages;
    struct passages_bucket bucket;
    size_t at;            /* of its entries */
    unsigned number, end; /* the next bucket; that before which it ends */
    int64_t end_us;
    struct number_vector runs, parts; /* of the rows that were read */
    struct number_vector buckets;
    size_t n_removed;
    uint8_t key[PASSAGES_KEY_BYTES];
};

static void joining_done(struct joining *joining)
{
    passages_bucket_done(&joining->bucket);
    number_vector_done(&joining->runs);
    number_vector_done(&joining->parts);
    number_vector_done(&joining->buckets);
}

static int join_row(void *user, const struct kv_entry *row)
{
    struct joining *joining = user;
    const uint8_t *key = row->key.data;
    int r = passages_bucket_add(&joining->bucket, row, NULL);
    if (r == 0)
        r = number_vector_push(&joining->buckets, get_be16(key));
    if (r == 0)
        r = number_vector_push(&joining->runs, get_be64(key + 2));
    return r < 0 ? r : number_vector_push(&joining->parts, get_be16(key + 10));
}

static bool has_more(const struct joining *joining)
{
    return joining->number < joining->end &&
           (joining->number == joining->passages->joining_from || clock_now_us() < joining->end_us);
}

static int next_joined(void *user, struct passages_entry *ret_entry)
{
    struct joining *joining = user;
    struct passages_bucket *bucket = &joining->bucket;
    while (joining->at == bucket->n_entries && has_more(joining)) {
        bucket->n_entries = joining->at = 0;
        int r = passages_each_row(joining->passages->kv, joining->number++,
                                  joining->passages->joining_run, join_row, joining);
        if (r < 0)
            return r;
        passages_bucket_settle(bucket);
    }
    if (joining->at == bucket->n_entries)
        return 0;
    const struct passages_entry *entry = &bucket->entries[joining->at++];
    *ret_entry = *entry;
    return 1;
}

static int next_old(void *user, struct kv_entry *ret_entry, bool *ret_delete)
{
    struct joining *joining = user;
    const size_t i = joining->n_removed;
    if (i == joining->runs.n_numbers)
        return 0;
    joining->n_removed++;
    *ret_delete = true;
    ret_entry->key =
        passages_row_key(joining->key, (unsigned)joining->buckets.numbers[i],
                         joining->runs.numbers[i], (unsigned)joining->parts.numbers[i]);
    ret_entry->value = (struct kv_slice){"", 0};
    return 1;
}

/* Returns 0 with the first bucket that is left, -ENOMEM or a store error. */
static int join_buckets(struct passages *passages, unsigned *ret_left)
{
    _cleanup_(joining_done) struct joining joining = {
        .passages = passages,
        .number = passages->joining_from,
        .end = passages->joining_from + JOINED_BUCKETS,
        .end_us = clock_now_us() + passages->join_step_us};
    _cleanup_free_ struct passages_rows *rows = malloc(sizeof(*rows));
    if (!rows)
        return -ENOMEM;
    rows->next = next_joined;
    rows->user = &joining;
    rows->run = passages->joining_run;
    int r = passages_write_rows(passages->kv, rows);
    if (r == 0)
        r = kv_bulk_load(passages->kv, TABLE_PASSAGES, next_old, &joining);
    if (r == 0)
        *ret_left = joining.number;
    return r;
}

bool passages_join_due(const struct passages *passages)
{
    return passages->joining_run || passages->next_run - passages->joined_run >= JOINED_RUNS;
}

int passages_join_some(struct passages *passages)
{
    int r = 0;
    if (!passages->joining_run) {
        r = meta_put_number(passages->kv, PASSAGES_RUNS_META, passages->next_run + 1);
        if (r < 0)
            return r;
        passages->joining_run = passages->next_run++;
        passages->joining_from = 0;
    }
    r = join_buckets(passages, &passages->joining_from);
    if (r < 0)
        return r;
    if (passages->joining_from < N_BUCKETS)
        return 0;
    r = meta_put_number(passages->kv, PASSAGES_JOINED_META, passages->joining_run);
    if (r < 0)
        return r;
    passages->joined_run = passages->joining_run;
    passages->joining_run = 0;
    return 0;
}
