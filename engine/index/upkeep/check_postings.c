/* Postings of one tier: the first document of each class has all of its own, nobody else has any.
 * Those of documents that are gone do no harm (a crash forgets removals in tier C): they are
 * counted. */
#include <assert.h>
#include <errno.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/tables/sid.h"

enum {
    KEY_BYTES = 16,
    LOOK_UPS = 128,
    GATHERED = 1 << 21, /* 32 MiB */
    ROWS_A_LOOK_UP = 10,
    FEW = 64,
};

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
    uint64_t sid;
    if (row->key.size_bytes != KEY_BYTES || row->value.size_bytes || sid_decode(p + 8, &sid) < 0)
        return check_bad_row(postings->check, postings->table, row);
    ++*(postings->tier == POSTINGS_TIER_R ? &postings->check->counts->postings_r
                                          : &postings->check->counts->postings_c);
    check_tally_take(postings->tally, sid, p, KEY_BYTES);
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

/* Keys are looked up in their order, very many at once. Where they are more than a few of the
 * table's, that is walked through: a row then costs a tenth of a look-up. */
struct wanted_key {
    uint64_t fingerprint, sid;
};

struct look_up {
    struct check_postings *postings;
    struct wanted_key *keys;
    size_t n_keys;
    size_t at, n_missing; /* keys that have been looked for; and those to be kept, before them */
};

static int compare_keys(const void *left, const void *right)
{
    const struct wanted_key *a = left, *b = right;
    if (a->fingerprint != b->fingerprint)
        return a->fingerprint < b->fingerprint ? -1 : 1;
    return (a->sid > b->sid) - (a->sid < b->sid);
}

static int compare_sids(const void *left, const void *right)
{
    const struct wanted_key *a = left, *b = right;
    return (a->sid > b->sid) - (a->sid < b->sid);
}

/* The next key is, or is not, in the table. What is missing is taken off the tally: what is left in
 * that are rows too many. */
static void take_key(struct look_up *look_up, bool present)
{
    const struct wanted_key wanted = look_up->keys[look_up->at++];
    uint8_t key[KEY_BYTES];
    if (present)
        return;
    make_key(key, wanted.fingerprint, wanted.sid);
    check_tally_take(look_up->postings->tally, wanted.sid, key, KEY_BYTES);
    look_up->keys[look_up->n_missing++] = wanted;
}

static int walk_by_key(void *user, const struct kv_entry *row)
{
    struct look_up *look_up = user;
    const uint8_t *p = row->key.data;
    if (row->key.size_bytes != KEY_BYTES)
        return 0;
    const struct wanted_key found = {get_be64(p), get_be64(p + 8)};
    while (look_up->at < look_up->n_keys) {
        int order = compare_keys(&look_up->keys[look_up->at], &found);
        if (order > 0)
            return 0;
        take_key(look_up, order == 0);
    }
    return 1;
}

static int walk_for_keys(struct look_up *look_up)
{
    const struct check_postings *postings = look_up->postings;
    int r = check_each_row(postings->check, postings->table, (struct kv_slice){0}, walk_by_key,
                           look_up);
    if (r < 0 || postings->check->unreadable[postings->table])
        return r;
    while (look_up->at < look_up->n_keys)
        take_key(look_up, false);
    return 0;
}

static int get_keys(struct look_up *look_up)
{
    while (look_up->at < look_up->n_keys) {
        uint8_t keys[LOOK_UPS][KEY_BYTES];
        struct kv_slice slices[LOOK_UPS];
        struct kv_buf values[LOOK_UPS];
        const size_t n_left = look_up->n_keys - look_up->at,
                     n = n_left < LOOK_UPS ? n_left : LOOK_UPS;
        for (size_t i = 0; i < n; i++) {
            const struct wanted_key *wanted = &look_up->keys[look_up->at + i];
            make_key(keys[i], wanted->fingerprint, wanted->sid);
            slices[i] = (struct kv_slice){keys[i], KEY_BYTES};
        }
        int r =
            check_look_up(look_up->postings->check, look_up->postings->table, slices, n, values);
        if (r != 0)
            return r < 0 ? r : 0;
        for (size_t i = 0; i < n; i++) {
            take_key(look_up, values[i].data);
            kv_buf_done(&values[i]);
        }
    }
    return 0;
}

/* Only those that are missing stay; none where the table cannot be read. */
static int keep_missing(struct look_up *look_up)
{
    const struct index_check *counts = look_up->postings->check->counts;
    const uint64_t n_rows =
        look_up->postings->tier == POSTINGS_TIER_R ? counts->postings_r : counts->postings_c;
    look_up->at = look_up->n_missing = 0;
    qsort(look_up->keys, look_up->n_keys, sizeof(*look_up->keys), compare_keys);
    int r = look_up->n_keys > FEW && look_up->n_keys > n_rows / ROWS_A_LOOK_UP
                ? walk_for_keys(look_up)
                : get_keys(look_up);
    look_up->n_keys =
        look_up->postings->check->unreadable[look_up->postings->table] ? 0 : look_up->n_missing;
    return r;
}

static int tell_missing(struct check_postings *postings, uint64_t sid, size_t n_missing)
{
    _cleanup_(record_done) struct record record = {0};
    size_t first;
    int r = may_be_missing(postings, sid);
    if (r != 0)
        return r < 0 ? r : 0;
    r = check_record(postings->check, sid, &record);
    if (r <= 0)
        return r;
    return check_found(
        postings->check, postings->kind, postings->table, &record.key,
        "lacks %zu of its %s (document %llu)", n_missing,
        counted(postings_tier_rows(postings->tier, &record.sketch, &first), "posting").text,
        (unsigned long long)sid);
}

/* Looks up what was gathered, and tells of each document of which something is missing. */
static int look_up_gathered(struct look_up *look_up)
{
    int r = look_up->n_keys ? keep_missing(look_up) : 0;
    if (r == 0 && look_up->n_keys)
        qsort(look_up->keys, look_up->n_keys, sizeof(*look_up->keys), compare_sids);
    for (size_t i = 0, n; r == 0 && i < look_up->n_keys; i += n) {
        for (n = 1; i + n < look_up->n_keys; n++)
            if (look_up->keys[i + n].sid != look_up->keys[i].sid)
                break;
        r = tell_missing(look_up->postings, look_up->keys[i].sid, n);
    }
    look_up->n_keys = 0;
    return r;
}

static int gather_postings(void *user, const struct check_document *document)
{
    struct look_up *look_up = user;
    struct check_postings *postings = look_up->postings;
    const struct min_sketch *sketch = &document->record->sketch;
    size_t first, n_keys = postings_tier_rows(postings->tier, sketch, &first);
    if (!document->is_first || check_tally_is_even(postings->tally, document->sid))
        return 0;
    assert(n_keys <= GATHERED); /* a sketch has some hundred */
    int r = look_up->n_keys + n_keys > GATHERED ? look_up_gathered(look_up) : 0;
    for (size_t i = 0; r == 0 && i < n_keys; i++)
        look_up->keys[look_up->n_keys++] =
            (struct wanted_key){sketch->values[first + i], document->sid};
    return r;
}

static int look_up_missing(struct check_postings *postings)
{
    struct look_up look_up = {.postings = postings,
                              .keys = malloc(GATHERED * sizeof(*look_up.keys))};
    if (!look_up.keys)
        return -ENOMEM;
    int r = check_each_document(postings->check, gather_postings, &look_up);
    if (r == 0)
        r = look_up_gathered(&look_up);
    free(look_up.keys);
    return r;
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
    uint64_t sid;
    if (row->key.size_bytes != KEY_BYTES || sid_decode(p + 8, &sid) < 0)
        return 0;
    const uint64_t fingerprint = get_be64(p);
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
    r = look_up_missing(postings);
    if (r < 0 || check_tally_all_even(postings->tally))
        return r;
    return check_each_row(check, postings->table, (struct kv_slice){0}, look_up_owner, postings);
}
