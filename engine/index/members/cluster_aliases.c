#include "engine/index/members/cluster_aliases.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/sid.h"
#include "engine/index/tables/number_vector.h"
#include "engine/index/tables/table_walk.h"

enum { ALIAS_BYTES = 8, LEADS_BYTES = 16 };

static const uint64_t MARK = CLUSTER_ALIAS_MARK;

struct alias_key {
    uint8_t bytes[LEADS_BYTES];
};

static struct kv_slice alias_key(struct alias_key *key, uint64_t alias)
{
    put_be64(key->bytes, MARK | alias);
    return (struct kv_slice){key->bytes, ALIAS_BYTES};
}

static struct kv_slice leads_key(struct alias_key *key, uint64_t cluster, uint64_t alias)
{
    put_be64(key->bytes, MARK | cluster);
    put_be64(key->bytes + ALIAS_BYTES, alias);
    return (struct kv_slice){key->bytes, LEADS_BYTES};
}

static int take_alias(void *user, const struct kv_entry *row)
{
    return row->key.size_bytes == LEADS_BYTES
               ? number_vector_push(user, get_be64((const uint8_t *)row->key.data + ALIAS_BYTES))
               : -EUCLEAN;
}

/* The ids that lead to a cluster, ascending. */
static int list(struct kv *kv, uint64_t cluster, struct number_vector *aliases)
{
    struct alias_key from, to;
    const struct kv_range range = {leads_key(&from, cluster, 0), leads_key(&to, cluster, MARK)};
    return table_each_row(kv, TABLE_MEMBERS, range, take_alias, aliases);
}

static void batch_lead(struct kv_batch *found_by, struct kv_batch *lead, uint64_t alias,
                       uint64_t cluster)
{
    struct alias_key key;
    uint8_t value[8];

    kv_batch_put(found_by, TABLE_MEMBERS, leads_key(&key, cluster, alias),
                 (struct kv_slice){"", 0});
    put_be64(value, cluster);
    kv_batch_put(lead, TABLE_MEMBERS, alias_key(&key, alias), (struct kv_slice){value, 8});
}

/* An alias with all that is known of it, where it leads to this cluster still. What it is found by
 * goes last: interrupted before, it is dropped by the same again. */
static int drop(struct kv *kv, uint64_t cluster, const uint64_t *aliases, size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *lead = kv_batch_new();
    _cleanup_(kv_batch_free_p) struct kv_batch *found_by = kv_batch_new();
    struct alias_key key;
    size_t n_lead = 0;
    int r = lead && found_by ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < n; i++) {
        uint64_t leads_to;
        kv_batch_delete(found_by, TABLE_MEMBERS, leads_key(&key, cluster, aliases[i]));
        r = cluster_aliases_find(kv, aliases[i], &leads_to);
        if (r == 0 && leads_to == cluster) {
            kv_batch_delete(lead, TABLE_MEMBERS, alias_key(&key, aliases[i]));
            n_lead++;
        }
        if (r == -ENOENT)
            r = 0;
    }
    if (r == 0 && n_lead > 0)
        r = kv_apply(kv, lead);
    return r == 0 && n > 0 ? kv_apply(kv, found_by) : r;
}

static int drop_oldest(struct kv *kv, uint64_t cluster)
{
    _cleanup_(number_vector_done) struct number_vector aliases = {0};
    int r = list(kv, cluster, &aliases);

    return r < 0 || aliases.n_numbers <= CLUSTER_ALIASES_MAX
               ? r
               : drop(kv, cluster, aliases.numbers, aliases.n_numbers - CLUSTER_ALIASES_MAX);
}

/* An alias that is a cluster: its merge was interrupted, and it is the others that came to it. */
static int drop_one(struct kv *kv, uint64_t alias)
{
    uint64_t leads_to;
    int r = cluster_aliases_find(kv, alias, &leads_to);
    return r == 0 ? drop(kv, leads_to, &alias, 1) : r == -ENOENT ? 0 : r;
}

/* First where they lead, then what said otherwise: interrupted in between, they are found under
 * both clusters, and the same again completes it. */
static int pass(struct kv *kv, uint64_t from, uint64_t to, bool itself)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *found_by = kv_batch_new();
    _cleanup_(kv_batch_free_p) struct kv_batch *lead = kv_batch_new();
    _cleanup_(kv_batch_free_p) struct kv_batch *gone = kv_batch_new();
    _cleanup_(number_vector_done) struct number_vector aliases = {0};
    struct alias_key key;

    if (!found_by || !lead || !gone)
        return -ENOMEM;
    int r = drop_one(kv, to);
    if (r == 0)
        r = list(kv, from, &aliases);
    if (r < 0)
        return r;
    for (size_t i = 0; i < aliases.n_numbers; i++) {
        if (aliases.numbers[i] != to)
            batch_lead(found_by, lead, aliases.numbers[i], to);
        kv_batch_delete(gone, TABLE_MEMBERS, leads_key(&key, from, aliases.numbers[i]));
    }
    if (itself)
        batch_lead(found_by, lead, from, to);
    if (kv_batch_count(lead) > 0)
        r = kv_apply(kv, found_by);
    if (r == 0 && kv_batch_count(lead) > 0)
        r = kv_apply(kv, lead);
    if (r == 0 && aliases.n_numbers > 0)
        r = kv_apply(kv, gone);
    return r == 0 ? drop_oldest(kv, to) : r;
}

int cluster_aliases_add(struct kv *kv, uint64_t from, uint64_t to)
{
    return pass(kv, from, to, true);
}

int cluster_aliases_rename(struct kv *kv, uint64_t from, uint64_t to)
{
    return pass(kv, from, to, false);
}

int cluster_aliases_are_there(struct kv *kv, const uint64_t *clusters, size_t n, bool *ret_there)
{
    struct alias_key from[CLUSTER_ALIASES_AT_ONCE], to[CLUSTER_ALIASES_AT_ONCE];
    struct kv_range ranges[CLUSTER_ALIASES_AT_ONCE];
    struct kv_page pages[CLUSTER_ALIASES_AT_ONCE];

    assert(n <= CLUSTER_ALIASES_AT_ONCE);
    for (size_t i = 0; i < n; i++)
        ranges[i] = (struct kv_range){leads_key(&from[i], clusters[i], 0),
                                      leads_key(&to[i], clusters[i], MARK)};
    int r = n ? kv_multi_scan(kv, TABLE_MEMBERS, ranges, n, 1, pages) : 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        ret_there[i] = pages[i].n_entries > 0;
        kv_page_done(&pages[i]);
    }
    return r;
}

int cluster_aliases_drop(struct kv *kv, uint64_t cluster)
{
    _cleanup_(number_vector_done) struct number_vector aliases = {0};
    int r = list(kv, cluster, &aliases);

    return r < 0 ? r : drop(kv, cluster, aliases.numbers, aliases.n_numbers);
}

int cluster_aliases_find(struct kv *kv, uint64_t alias, uint64_t *ret_cluster)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct alias_key key;

    int r = kv_get(kv, TABLE_MEMBERS, alias_key(&key, alias), &value);
    if (r == 0)
        r = value.size_bytes == 8 ? sid_decode(value.data, ret_cluster) : -EUCLEAN;
    return r;
}

int cluster_aliases_each(struct kv *kv, int (*found)(void *user, uint64_t alias, uint64_t cluster),
                         void *user)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    struct alias_key from;
    struct kv_entry row;
    int r = table_walk_begin(&walk, kv, TABLE_MEMBERS, alias_key(&from, 0));

    while (r == 0 && (r = table_walk_next(&walk, &row)) > 0) {
        r = 0;
        if (row.key.size_bytes == ALIAS_BYTES)
            r = row.value.size_bytes == 8
                    ? found(user, get_be64(row.key.data) & ~MARK, get_be64(row.value.data))
                    : -EUCLEAN;
    }
    return r;
}
