/* Meta and intents: what the store says of itself, and what is under way. */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/upkeep/check.h"
#include "engine/index/members/cluster_ids.h"
#include "engine/index/clusters/intents.h"
#include "engine/index/named/clustering_row.h"
#include "engine/index/index_state.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/postings/long_lists.h"
#include "engine/index/tables/compared.h"
#include "engine/index/tables/distinct.h"
#include "engine/index/tables/past.h"
#include "engine/index/tables/sid.h"

static struct kv_slice text_slice(const char *text)
{
    return (struct kv_slice){text, strlen(text)};
}

/* Returns 1, 0 where there is no such row, or it cannot be read, which has been told. */
static int read_row(struct check *check, const char *name, bool wanted, struct kv_buf *ret_value)
{
    const struct kv_slice key = text_slice(name);
    int r = check_look_up(check, TABLE_META, &key, 1, ret_value);
    if (r != 0)
        return r < 0 ? r : 0;
    if (ret_value->data)
        return 1;
    return wanted ? check_found(check, CHECK_STATE, TABLE_META, NULL, "'%s' is lost", name) : 0;
}

/* Returns 1, 0 where it is not there, or an error. */
static int read_number(struct check *check, const char *name, bool wanted, uint64_t *ret_number)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = read_row(check, name, wanted, &value);
    if (r <= 0)
        return r;
    if (value.size_bytes != sizeof(*ret_number) || get_be64(value.data) > NEXT_MAX)
        return check_found(check, CHECK_STATE, TABLE_META, NULL, "'%s' is damaged", name);
    *ret_number = get_be64(value.data);
    return 1;
}

/* A watermark: of sids up to it something is true. */
static int read_watermark(struct check *check, const char *name, uint64_t *ret_sid)
{
    int r = read_number(check, name, false, ret_sid);
    return r > 0 && *ret_sid && *ret_sid >= check->state.sid_end
               ? check_found(check, CHECK_STATE, TABLE_META, NULL,
                             "'%s' is %llu, which was never given out", name,
                             (unsigned long long)*ret_sid)
               : r;
}

static int read_key(struct check *check, const char *name, bool wanted, struct file_key *ret_key)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = read_row(check, name, wanted, &value);
    if (r <= 0)
        return r;
    if (value.size_bytes < FILE_KEY_MIN_BYTES || value.size_bytes > FILE_KEY_MAX_BYTES)
        return check_found(check, CHECK_STATE, TABLE_META, NULL, "'%s' is damaged", name);
    ret_key->size_bytes = (uint8_t)value.size_bytes;
    memcpy(ret_key->bytes, value.data, value.size_bytes);
    return 1;
}

static int read_policy(struct check *check)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct policy policy;
    int r = read_row(check, "policy", true, &value);
    if (r <= 0)
        return r;
    if (policy_decode(value.data, value.size_bytes, &policy) != 0)
        return check_found(check, CHECK_STATE, TABLE_META, NULL, "'policy' is damaged");
    check->state.has_policy = true;
    check->state.policy_id = policy_id(&policy);
    shown_ids_init(&check->shown_ids, &policy);
    return 0;
}

/* -- each row of meta -- */

static bool is_name(const struct kv_slice *key, const char *name)
{
    return key->size_bytes == strlen(name) && memcmp(key->data, name, key->size_bytes) == 0;
}

/* The clustering that a row with this name is of; 0 of the default one, which is the name alone.
 * Returns false for another name. */
static bool is_of_clustering(const struct kv_slice *key, const char *name, unsigned *ret_number)
{
    for (*ret_number = 0; *ret_number <= CLUSTERING_MAX; ++*ret_number) {
        struct clustering_meta meta;
        clustering_meta_key(&meta, name, *ret_number);
        if (is_name(key, meta.bytes))
            return true;
    }
    return false;
}

/* Records whose damage is told of where they are read. */
static bool is_read_by_name(const struct kv_slice *key)
{
    static const char *const names[] = {
        "schema",          "sid_end", "derived_sid", "postings_flushed",
        "document_counts", "policy",  "root",        "old_root"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_name(key, names[i]))
            return true;
    return false;
}

/* 1: such a row, and sound; 0: damaged, or none that there is; or an error. */
static int is_sound(const struct kv_entry *row)
{
    const struct kv_buf value = {.data = (void *)row->value.data,
                                 .size_bytes = row->value.size_bytes};
    struct index_clustering clustering;
    uint64_t next;
    unsigned number;
    if (is_read_by_name(&row->key))
        return 1;
    if (long_lists_is_row(&row->key))
        return row->value.size_bytes == 0;
    if (is_name(&row->key, "source"))
        return row->value.size_bytes > 0;
    if (is_name(&row->key, META_MADE) || is_name(&row->key, PAST_META_KEEP))
        return row->value.size_bytes == 8;
    if (is_name(&row->key, PASSAGES_META) || is_name(&row->key, "passages_runs") ||
        is_name(&row->key, "passages_merged"))
        return row->value.size_bytes == 8;
    if (is_name(&row->key, TOPICS_META))
        return row->value.size_bytes == 8;
    if (is_name(&row->key, TOPICS_EPOCH_META))
        return row->value.size_bytes == 16;
    if (is_name(&row->key, LARGEST_MODULUS))
        return row->value.size_bytes == 8 && get_be64(row->value.data) <= UINT32_MAX;
    if (is_of_clustering(&row->key, "next_cluster", &number))
        return cluster_ids_decode_next(row->value, number, &next) == 0;
    if (is_of_clustering(&row->key, "cluster_counts", &number))
        return row->value.size_bytes == 16;
    if (is_of_clustering(&row->key, "remade", &number))
        return remade_read_row(&value) >= 0;
    if (!is_of_clustering(&row->key, "clustering", &number) || number == 0)
        return 0;
    int r = clustering_row_wanted(&value, number, &clustering);
    return r == -EUCLEAN ? 0 : r < 0 ? r : 1;
}

static int check_meta_row(void *user, const struct kv_entry *row)
{
    struct check *check = user;
    int r = is_sound(row);
    if (r != 0)
        return r < 0 ? check_read_failed(check, TABLE_META, r) : 0;
    return check_found(check, CHECK_STATE, TABLE_META, NULL, "'%.*s' is damaged",
                       (int)(row->key.size_bytes < 64 ? row->key.size_bytes : 64),
                       (const char *)row->key.data);
}

int check_read_state(struct check *check)
{
    struct check_state *state = &check->state;
    uint64_t schema = SCHEMA_VERSION;
    int r = read_number(check, "schema", true, &schema);
    if (r >= 0 && schema != SCHEMA_VERSION)
        r = check_found(check, CHECK_STATE, TABLE_META, NULL, "'schema' is damaged");
    if (r >= 0)
        r = read_policy(check);
    if (r >= 0)
        r = read_key(check, "root", true, &state->root);
    if (r >= 0)
        r = read_key(check, "old_root", false, &state->old_root);
    if (r >= 0)
        r = read_number(check, "sid_end", false, &state->sid_end);
    if (r >= 0)
        r = read_watermark(check, "derived_sid", &state->derived_sid);
    if (r >= 0)
        r = read_watermark(check, "postings_flushed", &state->postings_flushed);
    if (r >= 0)
        r = check_each_row(check, TABLE_META, (struct kv_slice){0}, check_meta_row, check);
    if (r >= 0 && state->root.size_bytes)
        r = path_cache_new(check->kv, &state->root, &check->paths);
    return r < 0 ? r : 0;
}

int check_compare_counts(struct check *check, unsigned table, const char *name, const void *stored,
                         const uint64_t counted[2])
{
    uint64_t first = get_be64(stored), second = get_be64((const uint8_t *)stored + 8);
    if (first == counted[0] && second == counted[1])
        return 0;
    return check_found(check, CHECK_STATE, table, NULL,
                       "'%s' says %llu and %llu, there are %llu and %llu", name,
                       (unsigned long long)first, (unsigned long long)second,
                       (unsigned long long)counted[0], (unsigned long long)counted[1]);
}

int check_compare_state(struct check *check)
{
    const uint64_t counted[2] = {check->counts->documents, check->counts->skipped};
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = read_row(check, "document_counts", false, &value);
    if (r <= 0 || check->unreadable[TABLE_FILES])
        return r < 0 ? r : 0;
    return value.size_bytes == 16
               ? check_compare_counts(check, TABLE_META, "document_counts", value.data, counted)
               : check_found(check, CHECK_STATE, TABLE_META, NULL, "'document_counts' is damaged");
}

/* -- intents -- */

static bool begins_with(struct kv_slice key, const char *text)
{
    size_t n = strlen(text);
    return key.size_bytes >= n && memcmp(key.data, text, n) == 0;
}

static int check_intent(void *user, const struct kv_entry *entry)
{
    struct check *check = user;
    struct kv_slice rest;
    struct file_key key;
    check->counts->intents++;
    enum intent kind;
    int known = intent_check(entry, &kind);
    if (known != 0) {
        check->repairing |= known > 0 && (kind == INTENT_DIRTY || kind == INTENT_LIST);
        return known > 0 ? 0 : check_bad_row(check, TABLE_INTENTS, entry);
    }
    if (begins_with(entry->key, "removed")) {
        rest = (struct kv_slice){(const uint8_t *)entry->key.data + strlen("removed"),
                                 entry->key.size_bytes - strlen("removed")};
        return catalogue_take_key(&rest, &key) == 0 && rest.size_bytes == 0 &&
                       entry->value.size_bytes <= 1 + PAST_PATH_MAX
                   ? 0
                   : check_bad_row(check, TABLE_INTENTS, entry);
    }
    return check_bad_row(check, TABLE_INTENTS, entry);
}

int check_intents(struct check *check)
{
    return check_each_row(check, TABLE_INTENTS, (struct kv_slice){0}, check_intent, check);
}

/* -- what was compared, and declared -- */

static int check_compared_row(void *user, const struct kv_entry *entry)
{
    return compared_check(entry) == 0 ? 0 : check_bad_row(user, TABLE_COMPARED, entry);
}

static int check_distinct_row(void *user, const struct kv_entry *entry)
{
    return distinct_check(entry) == 0 ? 0 : check_bad_row(user, TABLE_DISTINCT, entry);
}

int check_pairs(struct check *check)
{
    int r = check_each_row(check, TABLE_COMPARED, (struct kv_slice){0}, check_compared_row, check);
    return r < 0 ? r
                 : check_each_row(check, TABLE_DISTINCT, (struct kv_slice){0}, check_distinct_row,
                                  check);
}

/* -- the past -- */

/* The rows of an owner stand in this order: events, those that lead to them by document, their
 * number, those that lead to them by path. */
struct past_check {
    struct check *check;
    uint32_t owner;
    uint64_t n_events; /* of the owner, not told yet */
};

static int check_past_count(struct past_check *past, uint64_t stored)
{
    const uint64_t counted = past->n_events;
    past->n_events = 0;
    return counted == stored
               ? 0
               : check_found(past->check, CHECK_PAST, TABLE_PAST, NULL,
                             "user %lu has %llu events, and %llu are said to be there",
                             (unsigned long)past->owner, (unsigned long long)counted,
                             (unsigned long long)stored);
}

static int check_past_row(void *user, const struct kv_entry *entry)
{
    struct past_check *past = user;
    struct check *check = past->check;
    uint64_t stored;
    const uint32_t owner = past_owner(entry);
    int r = 0;
    if (owner != past->owner)
        r = check_past_count(past, 0);
    past->owner = owner;
    if (r == 0 && past_is_count(entry, &stored))
        r = check_past_count(past, stored);
    if (r < 0)
        return r;
    past->n_events += past_is_event(entry);
    check->counts->past += past_is_event(entry);
    r = past_check(check->kv, entry);
    return r == -EUCLEAN  ? check_bad_row(check, TABLE_PAST, entry)
           : r == -ENOENT ? check_found(check, CHECK_PAST, TABLE_PAST, NULL,
                                        "an event, or a row that leads to it, is lost")
           : r == -EIO    ? check_read_failed(check, TABLE_PAST, r)
                          : r;
}

int check_past(struct check *check)
{
    struct past_check past = {.check = check};
    int r = check_each_row(check, TABLE_PAST, (struct kv_slice){0}, check_past_row, &past);
    return r < 0 ? r : check_past_count(&past, 0);
}
