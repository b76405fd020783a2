/* Postings of one tier: the first document of each class has all of its own, nobody else has any.
 * Those of documents that are gone do no harm (a crash forgets removals): they are counted. */
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/check.h"

enum { KEY_BYTES = 16, LOOK_UPS = 128 };

struct check_postings {
    struct check *check;
    enum postings_tier tier;
    unsigned table;
    enum check_kind kind;
    struct check_tally *tally;
};

int check_postings_new(struct check *check, enum postings_tier tier,
                       struct check_postings **ret_postings)
{
    struct check_postings *postings = calloc(1, sizeof(*postings));
    if (!postings)
        return -ENOMEM;
    *postings = (struct check_postings){
        .check = check,
        .tier = tier,
        .table = tier == POSTINGS_TIER_R ? TABLE_TIER_R : TABLE_TIER_C,
        .kind = tier == POSTINGS_TIER_R ? CHECK_POSTINGS_R : CHECK_POSTINGS_C,
        .tally = check_tally_new()};
    if (!postings->tally) {
        free(postings);
        return -ENOMEM;
    }
    *ret_postings = postings;
    return 0;
}

void check_postings_free(struct check_postings *postings)
{
    if (!postings)
        return;
    check_tally_free(postings->tally);
    free(postings);
}

static void make_key(uint8_t key[KEY_BYTES], uint64_t fingerprint, uint64_t sid)
{
    put_be64(key, fingerprint);
    put_be64(key + 8, sid);
}

void check_postings_expect(struct check_postings *postings, const struct check_document *document)
{
    const struct min_sketch *sketch = &document->record->sketch;
    size_t first, n = postings_tier_rows(postings->tier, sketch, &first);
    for (size_t i = 0; document->is_first && i < n; i++) {
        uint8_t key[KEY_BYTES];
        make_key(key, sketch->values[first + i], document->sid);
        check_tally_add(postings->tally, document->sid, key, KEY_BYTES);
    }
}

static int take_posting(void *user, const struct kv_entry *row)
{
    struct check_postings *postings = user;
    const uint8_t *p = row->key.data;
    if (row->key.size_bytes != KEY_BYTES || row->value.size_bytes)
        return check_bad_row(postings->check, postings->table, row);
    ++*(postings->tier == POSTINGS_TIER_R ? &postings->check->counts->postings_r
                                          : &postings->check->counts->postings_c);
    check_tally_take(postings->tally, get_be64(p + 8), p, KEY_BYTES);
    return 0;
}

/* -- one by one -- */

/* Postings past the watermark were in memory; an intent names those that were posted late. */
static int may_be_missing(const struct check_postings *postings, uint64_t sid)
{
    struct check *check = postings->check;
    uint8_t key[14] = "posted";
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    const struct kv_slice slice = {key, sizeof(key)};
    if (!check->interrupted)
        return 0;
    if (sid > check->state.postings_flushed || check_is_underived(check, sid))
        return 1;
    put_be64(key + 6, sid);
    int r = check_look_up(check, TABLE_INTENTS, &slice, 1, &value);
    return r < 0 ? r : r > 0 || value.data;
}

/* They are taken off the tally: what is left in it are rows too many. */
static int count_missing(struct check_postings *postings, const struct check_document *document,
                         const uint64_t *fingerprints, size_t n_keys, size_t *ret_n_missing)
{
    *ret_n_missing = 0;
    for (size_t at = 0; at < n_keys; at += LOOK_UPS) {
        uint8_t keys[LOOK_UPS][KEY_BYTES];
        struct kv_slice slices[LOOK_UPS];
        struct kv_buf values[LOOK_UPS];
        size_t n = n_keys - at < LOOK_UPS ? n_keys - at : LOOK_UPS;
        for (size_t i = 0; i < n; i++) {
            make_key(keys[i], fingerprints[at + i], document->sid);
            slices[i] = (struct kv_slice){keys[i], KEY_BYTES};
        }
        int r = check_look_up(postings->check, postings->table, slices, n, values);
        if (r != 0)
            return r < 0 ? r : 0;
        for (size_t i = 0; i < n; i++) {
            if (!values[i].data) {
                ++*ret_n_missing;
                check_tally_take(postings->tally, document->sid, keys[i], KEY_BYTES);
            }
            kv_buf_done(&values[i]);
        }
    }
    return 0;
}

static int look_up_postings(void *user, const struct check_document *document)
{
    struct check_postings *postings = user;
    const struct min_sketch *sketch = &document->record->sketch;
    size_t n_missing, first, n_keys = postings_tier_rows(postings->tier, sketch, &first);
    if (!document->is_first || n_keys == 0 || check_tally_is_even(postings->tally, document->sid))
        return 0;
    int r = count_missing(postings, document, sketch->values + first, n_keys, &n_missing);
    if (r < 0 || n_missing == 0)
        return r;
    r = may_be_missing(postings, document->sid);
    if (r != 0)
        return r < 0 ? r : 0;
    return check_found(postings->check, postings->kind, postings->table, &document->record->key,
                       "lacks %zu of its %zu postings (document %llu)", n_missing, n_keys,
                       (unsigned long long)document->sid);
}

static bool has_key(const struct check_postings *postings, const struct record *record,
                    uint64_t fingerprint)
{
    size_t first, n = postings_tier_rows(postings->tier, &record->sketch, &first);
    for (size_t i = first; i < first + n; i++)
        if (record->sketch.values[i] == fingerprint)
            return true;
    return false;
}

static int look_up_owner(void *user, const struct kv_entry *row)
{
    struct check_postings *postings = user;
    struct check *check = postings->check;
    _cleanup_(record_done) struct record record = {0};
    const uint8_t *p = row->key.data;
    if (row->key.size_bytes != KEY_BYTES)
        return 0;
    uint64_t fingerprint = get_be64(p), sid = get_be64(p + 8);
    if (check_tally_is_even(postings->tally, sid))
        return 0;
    int r = check_record(check, sid, &record);
    if (r <= 0) {
        check->counts->dead += r == 0;
        return r;
    }
    if (!has_key(postings, &record, fingerprint))
        return check_found(check, postings->kind, postings->table, &record.key,
                           "has a posting of a fingerprint that it has not (document %llu)",
                           (unsigned long long)sid);
    r = check_is_first(check, sid, &record);
    if (r != 0 || check->unreadable[TABLE_CLASSES])
        return r < 0 ? r : 0;
    return check_found(check, postings->kind, postings->table, &record.key,
                       "has postings, which the first of its class should have (document %llu)",
                       (unsigned long long)sid);
}

int check_postings_compare(struct check_postings *postings)
{
    struct check *check = postings->check;
    int r = check_each_row(check, postings->table, (struct kv_slice){0}, take_posting, postings);
    if (r < 0 || check->unreadable[postings->table] || check->unreadable[TABLE_RECORDS] ||
        check_tally_all_even(postings->tally))
        return r;
    r = check_each_document(check, look_up_postings, postings);
    if (r < 0 || check_tally_all_even(postings->tally))
        return r;
    return check_each_row(check, postings->table, (struct kv_slice){0}, look_up_owner, postings);
}
