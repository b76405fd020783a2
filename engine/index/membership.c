/* A move is two batches: the new rows, then the old ones. Interrupted in between a document is in
 * two clusters, never in none, and the same move again completes it. Who repeats one says so: then
 * what is there is looked at first, and the head's count, an absolute number, is of that. */
#include "engine/index/membership_private.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/cluster_hubs.h"
#include "engine/index/schema.h"

enum {
    PAGE_ROWS = 256,
    /* What a new document is compared with is anywhere among all. */
    CLUSTERS_FIRST = 1 << 10,
    CLUSTERS_MAX = 1 << 20,
    HEADS_FIRST = 1 << 8,
    HEADS_MAX = 1 << 18,
};

static struct kv_slice counts_key(struct clustering_meta *meta, const struct membership *membership)
{
    return clustering_meta_key(meta, "cluster_counts", membership->clustering);
}

static int put_meta(struct kv *kv, struct kv_slice key, const void *value, size_t size_bytes)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();

    if (!batch)
        return -ENOMEM;
    if (value)
        kv_batch_put(batch, TABLE_META, key, (struct kv_slice){value, size_bytes});
    else
        kv_batch_delete(batch, TABLE_META, key);
    return kv_apply(kv, batch);
}

/* -- counts -- */

int membership_recount(struct membership *membership)
{
    struct cluster_heads heads;
    int64_t n_clusters = 0, n_documents = 0;
    uint64_t id, size;
    int r;

    number_cache_clear(&membership->heads);
    cluster_heads_init(&heads, membership->kv, clustering_base(membership->clustering),
                       4 * PAGE_ROWS);
    while ((r = cluster_heads_next(&heads, &id, &size)) > 0) {
        n_clusters++;
        n_documents += (int64_t)size;
    }
    cluster_heads_done(&heads);
    if (r < 0)
        return r;
    membership->n_clusters = n_clusters;
    membership->n_documents = n_documents;
    return 0;
}

void membership_count_change(struct membership *membership, uint64_t old_size, uint64_t new_size)
{
    membership->n_documents += (int64_t)(new_size - old_size);
    membership->n_clusters += (new_size > 0) - (old_size > 0);
}

int membership_init(struct membership *membership, struct kv *kv, unsigned clustering)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    struct clustering_meta meta;

    *membership =
        (struct membership){.kv = kv, .clustering = clustering, .ids.clustering = clustering};
    int r = number_cache_init(&membership->heads, HEADS_FIRST, HEADS_MAX);
    if (r == 0)
        r = number_cache_init(&membership->clusters, CLUSTERS_FIRST, CLUSTERS_MAX);
    if (r == 0)
        r = kv_get(kv, TABLE_META, counts_key(&meta, membership), &value);
    if (r == 0 && value.size_bytes == 16) {
        membership->n_clusters = (int64_t)get_be64(value.data);
        membership->n_documents = (int64_t)get_be64((uint8_t *)value.data + 8);
        membership->counts_stored = true;
    } else if (r == 0 || r == -ENOENT) {
        r = membership_recount(membership);
    }
    if (r < 0) {
        number_cache_done(&membership->heads);
        number_cache_done(&membership->clusters);
    }
    return r;
}

void membership_done(struct membership *membership, bool clean)
{
    if (clean && membership->changed) {
        struct clustering_meta meta;
        uint8_t value[16];
        put_be64(value, (uint64_t)membership->n_clusters);
        put_be64(value + 8, (uint64_t)membership->n_documents);
        /* Without it the next start counts. */
        (void)put_meta(membership->kv, counts_key(&meta, membership), value, sizeof(value));
    }
    number_cache_done(&membership->heads);
    number_cache_done(&membership->clusters);
    centre_cache_clear(&membership->centres);
}

int membership_before_change(struct membership *membership)
{
    struct clustering_meta meta;

    membership->changed = true;
    if (!membership->counts_stored)
        return 0;
    int r = put_meta(membership->kv, counts_key(&meta, membership), NULL, 0);
    if (r == 0)
        membership->counts_stored = false;
    return r;
}

/* -- moving -- */

/* A cluster's head and which of some members it has. */
struct presence {
    uint64_t size;
    bool has[MEMBERS_AT_ONCE];
    size_t n_has;
};

static int look(struct membership *membership, uint64_t id, const struct member *members, size_t n,
                struct presence *ret_presence)
{
    uint8_t keys[MEMBERS_AT_ONCE + 1][MEMBER_KEY_MAX_BYTES];
    struct kv_slice slices[MEMBERS_AT_ONCE + 1];
    struct kv_buf values[MEMBERS_AT_ONCE + 1];
    struct presence presence = {0};

    for (size_t i = 0; i < n; i++)
        slices[i] = member_key(keys[i], id, &members[i]);
    put_be64(keys[n], id);
    slices[n] = (struct kv_slice){keys[n], HEAD_KEY_BYTES};
    int r = kv_multi_get(membership->kv, TABLE_MEMBERS, slices, n + 1, values);
    if (r < 0)
        return r;
    r = 0;
    if (values[n].data && values[n].size_bytes != HEAD_VALUE_BYTES)
        r = -EUCLEAN;
    else if (values[n].data)
        presence.size = get_be64(values[n].data);
    for (size_t i = 0; i < n; i++) {
        presence.has[i] = values[i].data != NULL;
        presence.n_has += presence.has[i];
    }
    for (size_t i = 0; i <= n; i++)
        kv_buf_done(&values[i]);
    if (r == 0)
        *ret_presence = presence;
    return r;
}

void membership_batch_head(struct kv_batch *batch, uint64_t id, uint64_t size)
{
    uint8_t key[HEAD_KEY_BYTES], value[HEAD_VALUE_BYTES];

    put_be64(key, id);
    put_be64(value, size);
    if (size > 0)
        kv_batch_put(batch, TABLE_MEMBERS, (struct kv_slice){key, HEAD_KEY_BYTES},
                     (struct kv_slice){value, HEAD_VALUE_BYTES});
    else
        kv_batch_delete(batch, TABLE_MEMBERS, (struct kv_slice){key, HEAD_KEY_BYTES});
}

void membership_batch_cluster_of(const struct membership *membership, struct kv_batch *batch,
                                 uint64_t sid, uint64_t id)
{
    uint8_t key[CLUSTER_OF_KEY_BYTES], value[8];
    const struct kv_slice slice = member_cluster_of_key(key, sid, membership->clustering);

    put_be64(value, id);
    if (id)
        kv_batch_put(batch, TABLE_CLUSTER_OF, slice, (struct kv_slice){value, 8});
    else
        kv_batch_delete(batch, TABLE_CLUSTER_OF, slice);
}

/* Whether what enters a cluster is there already is not looked at, but after an interruption. */
static int look_before_entering(struct membership *membership, uint64_t to,
                                const struct member *members, size_t n,
                                struct presence *ret_presence)
{
    *ret_presence = (struct presence){.n_has = to ? 0 : n};
    if (to == 0)
        return 0;
    return membership->repeating ? look(membership, to, members, n, ret_presence)
                                 : membership_known_size(membership, to, &ret_presence->size);
}

static int enter(struct membership *membership, uint64_t to, const struct member *members, size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct presence presence;
    uint64_t size = 0;

    if (!batch)
        return -ENOMEM;
    int r = look_before_entering(membership, to, members, n, &presence);
    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[MEMBER_KEY_MAX_BYTES];
        if (to && !presence.has[i])
            kv_batch_put(batch, TABLE_MEMBERS, member_key(key, to, &members[i]),
                         (struct kv_slice){"", 0});
        membership_batch_cluster_of(membership, batch, members[i].sid, to);
        number_cache_drop(&membership->clusters, members[i].sid);
    }
    size = presence.size + n - presence.n_has;
    if (to) {
        number_cache_drop(&membership->heads, to);
        membership_batch_head(batch, to, size);
    }
    r = kv_apply(membership->kv, batch);
    if (r < 0)
        return r;
    if (to)
        number_cache_set(&membership->heads, to, size);
    membership_count_change(membership, presence.size, size);
    for (size_t i = 0; i < n; i++)
        number_cache_set(&membership->clusters, members[i].sid, to);
    return 0;
}

static int leave(struct membership *membership, uint64_t from, const struct member *members,
                 size_t n)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    struct presence presence;

    if (!batch)
        return -ENOMEM;
    int r = look(membership, from, members, n, &presence);
    if (r < 0 || presence.n_has == 0)
        return r;
    if (presence.size < presence.n_has)
        return -EUCLEAN;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[MEMBER_KEY_MAX_BYTES];
        if (presence.has[i])
            kv_batch_delete(batch, TABLE_MEMBERS, member_key(key, from, &members[i]));
    }
    number_cache_drop(&membership->heads, from);
    membership_batch_head(batch, from, presence.size - presence.n_has);
    r = kv_apply(membership->kv, batch);
    if (r < 0)
        return r;
    number_cache_set(&membership->heads, from, presence.size - presence.n_has);
    membership_count_change(membership, presence.size, presence.size - presence.n_has);
    return 0;
}

int membership_move(struct membership *membership, uint64_t from, uint64_t to,
                    const struct member *members, size_t n_members)
{
    int r = membership_before_change(membership);

    if (membership->hubs)
        cluster_hubs_moved(membership->hubs, from, to, members, n_members);
    centre_cache_changed(&membership->centres, from, members, n_members);
    centre_cache_changed(&membership->centres, to, members, n_members);
    for (size_t at = 0; at < n_members && r == 0; at += MEMBERS_AT_ONCE) {
        size_t n = n_members - at < MEMBERS_AT_ONCE ? n_members - at : MEMBERS_AT_ONCE;
        r = enter(membership, to, members + at, n);
        if (r == 0 && from && from != to)
            r = leave(membership, from, members + at, n);
    }
    return r;
}

/* -- moving all -- */

int membership_move_all(struct membership *membership, uint64_t from, uint64_t to)
{
    struct member members[MEMBERS_AT_ONCE];

    for (;;) {
        int n = membership_after(membership, from, NULL, MEMBERS_AT_ONCE, members);
        if (n <= 0)
            return n;
        int r = membership_move(membership, from, to, members, (size_t)n);
        if (r < 0)
            return r;
    }
}

/* -- reading -- */

static int parse_cluster(const struct kv_buf *value, uint64_t *ret_id)
{
    if (value->data && value->size_bytes != 8)
        return -EUCLEAN;
    *ret_id = value->data ? get_be64(value->data) : 0;
    return 0;
}

static int read_clusters(struct membership *membership, const uint64_t *sids, const size_t *places,
                         size_t n, uint64_t *ret_ids)
{
    uint8_t keys[MEMBERS_AT_ONCE][CLUSTER_OF_KEY_BYTES];
    struct kv_slice slices[MEMBERS_AT_ONCE];
    struct kv_buf values[MEMBERS_AT_ONCE];

    slices[0] = (struct kv_slice){0}; /* for a compiler that cannot know */
    for (size_t i = 0; i < n; i++)
        slices[i] = member_cluster_of_key(keys[i], sids[places[i]], membership->clustering);
    int r = kv_multi_get(membership->kv, TABLE_CLUSTER_OF, slices, n, values);
    if (r < 0)
        return r;
    r = 0;
    for (size_t i = 0; i < n; i++) {
        if (r == 0)
            r = parse_cluster(&values[i], &ret_ids[places[i]]);
        if (r == 0)
            number_cache_set(&membership->clusters, sids[places[i]], ret_ids[places[i]]);
        kv_buf_done(&values[i]);
    }
    return r;
}

int membership_clusters_of(struct membership *membership, const uint64_t *sids, size_t n_sids,
                           uint64_t *ret_ids)
{
    size_t places[MEMBERS_AT_ONCE], n = 0;
    int r = 0;

    for (size_t i = 0; i < n_sids && r == 0; i++) {
        if (!number_cache_get(&membership->clusters, sids[i], &ret_ids[i]))
            places[n++] = i;
        if (n == MEMBERS_AT_ONCE) {
            r = read_clusters(membership, sids, places, n, ret_ids);
            n = 0;
        }
    }
    return r == 0 && n > 0 ? read_clusters(membership, sids, places, n, ret_ids) : r;
}

int membership_cluster_of(struct membership *membership, uint64_t sid, uint64_t *ret_id)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[CLUSTER_OF_KEY_BYTES];

    int r = kv_get(membership->kv, TABLE_CLUSTER_OF,
                   member_cluster_of_key(key, sid, membership->clustering), &value);
    return r < 0 && r != -ENOENT ? r : parse_cluster(&value, ret_id);
}

int membership_size(struct membership *membership, uint64_t id, uint64_t *ret_size)
{
    struct presence presence;
    int r = look(membership, id, NULL, 0, &presence);

    if (r == 0)
        *ret_size = presence.size;
    return r;
}

int membership_known_size(struct membership *membership, uint64_t id, uint64_t *ret_size)
{
    if (number_cache_get(&membership->heads, id, ret_size))
        return 0;
    int r = membership_size(membership, id, ret_size);
    if (r == 0)
        number_cache_set(&membership->heads, id, *ret_size);
    return r;
}

void membership_is_new(struct membership *membership, uint64_t id)
{
    number_cache_set(&membership->heads, id, 0);
}

static int take_members(const struct kv_page *page, size_t limit, struct sid_vector *sids)
{
    for (size_t i = 0; i < page->n_entries && (limit == 0 || sids->n_sids < limit); i++) {
        struct member member;
        int r = member_parse(&page->entries[i].key, &member);
        if (r == 0)
            r = sid_vector_push(sids, member.sid);
        if (r < 0)
            return r;
    }
    return 0;
}

int membership_list(struct membership *membership, uint64_t id, size_t limit,
                    struct sid_vector *sids)
{
    uint8_t start[HEAD_KEY_BYTES + 1] = {0}, to[HEAD_KEY_BYTES];
    _cleanup_(kv_buf_done) struct kv_buf cursor = {0};
    struct kv_slice from = {start, sizeof(start)};
    bool more = true;

    put_be64(start, id);
    put_be64(to, id + 1);
    while (more && (limit == 0 || sids->n_sids < limit)) {
        struct kv_range range = {from, {to, sizeof(to)}};
        struct kv_page page;
        int r = kv_scan(membership->kv, TABLE_MEMBERS, &range, PAGE_ROWS, &page);
        if (r < 0)
            return r;
        more = page.more;
        r = take_members(&page, limit, sids);
        kv_buf_done(&cursor);
        if (r == 0 && more && page.n_entries > 0)
            r = kv_page_cursor(&page, &cursor);
        kv_page_done(&page);
        if (r < 0)
            return r;
        if (cursor.data)
            from = kv_buf_slice(&cursor);
    }
    return 0;
}

/* All stands behind the head, whose key is the cluster's alone; what stands behind an order begins
 * with the next number. */
int membership_after(struct membership *membership, uint64_t id, const uint8_t *order, size_t most,
                     struct member *ret_members)
{
    uint8_t from[HEAD_KEY_BYTES + ORDER_BYTES] = {0}, to[HEAD_KEY_BYTES];
    struct kv_page page;
    int n = 0;

    put_be64(from, id);
    put_be64(to, id + 1);
    if (order)
        memcpy(from + HEAD_KEY_BYTES, order, ORDER_BYTES);
    for (size_t i = sizeof(from); order && i-- > 0 && ++from[i] == 0;)
        ;
    struct kv_range range = {{from, order ? sizeof(from) : HEAD_KEY_BYTES + 1}, {to, sizeof(to)}};
    int r = kv_scan(membership->kv, TABLE_MEMBERS, &range, most, &page);
    if (r < 0)
        return r;
    for (size_t i = 0; i < page.n_entries && r == 0; i++)
        r = member_parse(&page.entries[i].key, &ret_members[n++]);
    kv_page_done(&page);
    return r < 0 ? r : n;
}

int membership_first(struct membership *membership, uint64_t id, struct member *ret_member)
{
    int n = membership_after(membership, id, NULL, 1, ret_member);
    return n < 0 ? n : n == 0 ? -ENOENT : 0;
}

int membership_ids(struct membership *membership, uint64_t after, size_t limit, uint64_t *ret_ids)
{
    struct cluster_heads heads;
    uint64_t size;
    size_t n = 0;
    int r = 1;

    cluster_heads_init(&heads, membership->kv, after, PAGE_ROWS);
    while (n < limit && (r = cluster_heads_next(&heads, &ret_ids[n], &size)) > 0)
        n++;
    cluster_heads_done(&heads);
    return r < 0 ? r : (int)n;
}
