#include "engine/index/members/membership_private.h"

#include <errno.h>

#include "base/bytes.h"
#include "engine/index/tables/schema.h"

enum {
    PAGE_ROWS = 256,
    /* A new document is compared with documents from anywhere among all. */
    CLUSTERS_FIRST = 1 << 10,
    CLUSTERS_MAX = 1 << 20,
    SIZES_FIRST = 1 << 8,
    SIZES_MAX = 1 << 18,
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
    struct cluster_sizes sizes;
    int64_t n_clusters = 0, n_documents = 0;
    uint64_t id, size;
    int r;

    number_cache_clear(&membership->sizes);
    cluster_sizes_init(&sizes, membership->kv, clustering_base(membership->clustering),
                       4 * PAGE_ROWS);
    while ((r = cluster_sizes_next(&sizes, &id, &size)) > 0) {
        n_clusters++;
        n_documents += (int64_t)size;
    }
    cluster_sizes_done(&sizes);
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
    int r = number_cache_init(&membership->sizes, SIZES_FIRST, SIZES_MAX);
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
        number_cache_done(&membership->sizes);
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
    number_cache_done(&membership->sizes);
    number_cache_done(&membership->clusters);
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

/* -- rows -- */

void membership_batch_size(struct kv_batch *batch, uint64_t id, uint64_t size)
{
    uint8_t key[SIZE_KEY_BYTES], value[SIZE_VALUE_BYTES];

    put_be64(key, id);
    put_be64(value, size);
    if (size > 0)
        kv_batch_put(batch, TABLE_MEMBERS, (struct kv_slice){key, SIZE_KEY_BYTES},
                     (struct kv_slice){value, SIZE_VALUE_BYTES});
    else
        kv_batch_delete(batch, TABLE_MEMBERS, (struct kv_slice){key, SIZE_KEY_BYTES});
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

int membership_size_decode(const struct kv_buf *value, uint64_t *ret_size)
{
    if (value->data && value->size_bytes != SIZE_VALUE_BYTES)
        return -EUCLEAN;
    *ret_size = value->data ? get_be64(value->data) : 0;
    return 0;
}

/* -- reading -- */

static int parse_cluster(const struct membership *membership, const struct kv_buf *value,
                         uint64_t *ret_id)
{
    if (value->data && value->size_bytes != 8)
        return -EUCLEAN;
    const uint64_t id = value->data ? get_be64(value->data) : 0;
    if (id && cluster_clustering(id) != membership->clustering)
        return -EUCLEAN;
    *ret_id = id;
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
            r = parse_cluster(membership, &values[i], &ret_ids[places[i]]);
        if (r == 0)
            number_cache_set(&membership->clusters, sids[places[i]], ret_ids[places[i]]);
        kv_buf_done(&values[i]);
    }
    return r;
}

int membership_look_up(struct membership *membership, const uint64_t *sids, size_t n_sids,
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
    return r < 0 && r != -ENOENT ? r : parse_cluster(membership, &value, ret_id);
}

int membership_size(struct membership *membership, uint64_t id, uint64_t *ret_size)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    uint8_t key[SIZE_KEY_BYTES];

    put_be64(key, id);
    int r = kv_get(membership->kv, TABLE_MEMBERS, (struct kv_slice){key, SIZE_KEY_BYTES}, &value);
    return r < 0 && r != -ENOENT ? r : membership_size_decode(&value, ret_size);
}

int membership_known_size(struct membership *membership, uint64_t id, uint64_t *ret_size)
{
    if (number_cache_get(&membership->sizes, id, ret_size))
        return 0;
    int r = membership_size(membership, id, ret_size);
    if (r == 0)
        number_cache_set(&membership->sizes, id, *ret_size);
    return r;
}

void membership_is_new(struct membership *membership, uint64_t id)
{
    number_cache_set(&membership->sizes, id, 0);
}

static int take_members(const struct kv_page *page, struct number_vector *sids)
{
    for (size_t i = 0; i < page->n_entries; i++) {
        struct member member;
        int r = member_parse(&page->entries[i].key, &member);
        if (r == 0)
            r = number_vector_push(sids, member.sid);
        if (r < 0)
            return r;
    }
    return 0;
}

/* All stands behind the head, whose key is the cluster's alone. */
static int scan_some(struct membership *membership, uint64_t id, struct kv_buf *cursor, size_t most,
                     struct kv_page *page)
{
    uint8_t start[SIZE_KEY_BYTES + 1] = {0}, to[SIZE_KEY_BYTES];
    put_be64(start, id);
    put_be64(to, id + 1);
    const struct kv_slice from =
        cursor->data ? kv_buf_slice(cursor) : (struct kv_slice){start, sizeof(start)};
    const struct kv_range range = {from, {to, sizeof(to)}};
    int r = kv_scan(membership->kv, TABLE_MEMBERS, &range, most, page);
    kv_buf_done(cursor);
    return r == 0 && page->more && page->n_entries > 0 ? kv_page_cursor(page, cursor) : r;
}

int membership_list_some(struct membership *membership, uint64_t id, struct kv_buf *cursor,
                         struct number_vector *sids)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    int r = scan_some(membership, id, cursor, PAGE_ROWS, &page);
    if (r == 0)
        r = take_members(&page, sids);
    return r < 0 ? r : cursor->data != NULL;
}

int membership_list(struct membership *membership, uint64_t id, size_t limit,
                    struct number_vector *sids)
{
    _cleanup_(kv_buf_done) struct kv_buf cursor = {0};
    int r = 1;
    while (r > 0 && (limit == 0 || sids->n_numbers < limit))
        r = membership_list_some(membership, id, &cursor, sids);
    if (limit && sids->n_numbers > limit)
        sids->n_numbers = limit;
    return r < 0 ? r : 0;
}

int membership_some(struct membership *membership, uint64_t id, struct kv_buf *cursor, size_t most,
                    struct member *ret_members)
{
    _cleanup_(kv_page_done) struct kv_page page = {0};
    int n = 0;
    int r = scan_some(membership, id, cursor, most, &page);
    for (size_t i = 0; r == 0 && i < page.n_entries; i++)
        r = member_parse(&page.entries[i].key, &ret_members[n++]);
    return r < 0 ? r : n;
}

int membership_ids(struct membership *membership, uint64_t after, size_t limit, uint64_t *ret_ids)
{
    struct cluster_sizes sizes;
    uint64_t size;
    size_t n = 0;
    int r = 1;

    cluster_sizes_init(&sizes, membership->kv, after, PAGE_ROWS);
    while (n < limit && (r = cluster_sizes_next(&sizes, &ret_ids[n], &size)) > 0)
        n++;
    cluster_sizes_done(&sizes);
    return r < 0 ? r : (int)n;
}
