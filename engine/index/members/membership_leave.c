/* A document that goes loses first the cluster's row of it, then what says in which cluster it is:
 * so the same done again after a crash knows from where. One that stays loses them the other way
 * round: it is found in the cluster again. */
#include <assert.h>
#include <errno.h>

#include "base/bytes.h"
#include "engine/index/members/membership_private.h"
#include "engine/index/tables/schema.h"

/* Clusters that documents leave, with their sizes. */
struct left_clusters {
    uint64_t ids[MEMBERS_AT_ONCE], sizes[MEMBERS_AT_ONCE];
    size_t places[MEMBERS_AT_ONCE]; /* of each document's */
    size_t n_gone[MEMBERS_AT_ONCE];
    bool has[MEMBERS_AT_ONCE]; /* each document's row is there */
    size_t n;
};

static void list_clusters(const uint64_t *clusters, size_t n, struct left_clusters *left)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < left->n && left->ids[k] != clusters[i])
            k++;
        if (k == left->n)
            left->ids[left->n++] = clusters[i];
        left->places[i] = k;
    }
}

static int take_presence(const struct kv_buf *values, size_t n, struct left_clusters *left)
{
    const struct kv_buf *sizes = values + n;

    for (size_t i = 0; i < left->n; i++) {
        int r = membership_size_decode(&sizes[i], &left->sizes[i]);
        if (r < 0)
            return r;
    }
    for (size_t i = 0; i < n; i++) {
        left->has[i] = values[i].data != NULL;
        left->n_gone[left->places[i]] += left->has[i];
    }
    for (size_t i = 0; i < left->n; i++)
        if (left->sizes[i] < left->n_gone[i])
            return -EUCLEAN;
    return 0;
}

/* Each is where it is said to be. */
static int take_for_granted(struct membership *membership, size_t n, struct left_clusters *left)
{
    int r = 0;

    for (size_t i = 0; i < n; i++) {
        left->has[i] = true;
        left->n_gone[left->places[i]]++;
    }
    for (size_t i = 0; r == 0 && i < left->n; i++) {
        r = membership_known_size(membership, left->ids[i], &left->sizes[i]);
        if (r == 0 && left->sizes[i] < left->n_gone[i])
            r = -EUCLEAN;
    }
    return r;
}

static int look_at_left(struct membership *membership, const struct member *members, size_t n,
                        struct left_clusters *left)
{
    uint8_t keys[2 * MEMBERS_AT_ONCE][MEMBER_KEY_MAX_BYTES];
    struct kv_slice slices[2 * MEMBERS_AT_ONCE];
    struct kv_buf values[2 * MEMBERS_AT_ONCE];

    for (size_t i = 0; i < n; i++)
        slices[i] = member_key(keys[i], left->ids[left->places[i]], &members[i]);
    for (size_t i = 0; i < left->n; i++) {
        put_be64(keys[n + i], left->ids[i]);
        slices[n + i] = (struct kv_slice){keys[n + i], SIZE_KEY_BYTES};
    }
    int r = kv_multi_get(membership->kv, TABLE_MEMBERS, slices, n + left->n, values);
    if (r < 0)
        return r;
    r = take_presence(values, n, left);
    for (size_t i = 0; i < n + left->n; i++)
        kv_buf_done(&values[i]);
    return r;
}

static int write_rows(struct membership *membership, const uint64_t *clusters,
                      const struct member *members, size_t n, const struct left_clusters *left,
                      bool stay)
{
    _cleanup_(kv_batch_free_p) struct kv_batch *of = kv_batch_new();
    _cleanup_(kv_batch_free_p) struct kv_batch *rows = kv_batch_new();

    if (!of || !rows)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        uint8_t key[MEMBER_KEY_MAX_BYTES];
        membership_batch_cluster_of(membership, of, members[i].sid, 0);
        if (left->has[i])
            kv_batch_delete(rows, TABLE_MEMBERS, member_key(key, clusters[i], &members[i]));
    }
    for (size_t i = 0; i < left->n; i++)
        if (left->n_gone[i] > 0)
            membership_batch_size(rows, left->ids[i], left->sizes[i] - left->n_gone[i]);
    for (size_t i = 0; i < left->n; i++)
        number_cache_drop(&membership->sizes, left->ids[i]);
    int r = stay ? kv_apply(membership->kv, of) : 0;
    if (r == 0 && kv_batch_count(rows) > 0)
        r = kv_apply(membership->kv, rows);
    return r < 0 || stay ? r : kv_apply(membership->kv, of);
}

static int leave(struct membership *membership, const uint64_t *clusters,
                 const struct member *members, size_t n_members, bool may_be_gone, bool stay,
                 uint64_t *ret_sizes)
{
    struct left_clusters left = {.n = 0};

    assert(n_members <= MEMBERS_AT_ONCE);
    int r = membership_before_change(membership);
    for (size_t i = 0; i < n_members; i++)
        number_cache_drop(&membership->clusters, members[i].sid);
    list_clusters(clusters, n_members, &left);
    if (r == 0)
        r = may_be_gone ? look_at_left(membership, members, n_members, &left)
                        : take_for_granted(membership, n_members, &left);
    if (r == 0)
        r = write_rows(membership, clusters, members, n_members, &left, stay);
    if (r < 0)
        return r;
    for (size_t i = 0; i < left.n; i++) {
        const uint64_t size = left.sizes[i] - left.n_gone[i];
        membership_count_change(membership, left.sizes[i], size);
        number_cache_set(&membership->sizes, left.ids[i], size);
        left.sizes[i] = size;
    }
    for (size_t i = 0; i < n_members; i++) {
        number_cache_set(&membership->clusters, members[i].sid, 0);
        if (left.has[i])
            member_changes_note(membership->changes, stay ? MEMBER_LEFT : MEMBER_REMOVED,
                                clusters[i], &members[i]);
        ret_sizes[i] = left.sizes[left.places[i]];
    }
    return 0;
}

int membership_leave(struct membership *membership, const uint64_t *clusters,
                     const struct member *members, size_t n_members, bool may_be_gone,
                     uint64_t *ret_sizes)
{
    return leave(membership, clusters, members, n_members, may_be_gone, false, ret_sizes);
}

/* -- dissolving -- */

/* The last member of each cluster that has one left; ret_places[]: of which cluster. */
static int take_last(struct membership *membership, const uint64_t *ids, const uint64_t *sizes,
                     size_t n, struct member *ret_members, size_t *ret_places)
{
    uint8_t from[MEMBERS_AT_ONCE][SIZE_KEY_BYTES + 1], to[MEMBERS_AT_ONCE][SIZE_KEY_BYTES];
    struct kv_range ranges[MEMBERS_AT_ONCE];
    struct kv_page pages[MEMBERS_AT_ONCE];
    size_t n_read = 0, n_last = 0;

    for (size_t i = 0; i < n; i++) {
        if (sizes[i] != 1)
            continue;
        put_be64(from[n_read], ids[i]);
        from[n_read][SIZE_KEY_BYTES] = 0;
        put_be64(to[n_read], ids[i] + 1);
        ranges[n_read] =
            (struct kv_range){{from[n_read], SIZE_KEY_BYTES + 1}, {to[n_read], SIZE_KEY_BYTES}};
        ret_places[n_read++] = i;
    }
    int r = n_read ? kv_multi_scan(membership->kv, TABLE_MEMBERS, ranges, n_read, 1, pages) : 0;
    if (r < 0)
        return r;
    for (size_t i = 0; i < n_read; i++) {
        if (r == 0 && pages[i].n_entries > 0) {
            r = member_parse(&pages[i].entries[0].key, &ret_members[n_last]);
            ret_places[n_last++] = ret_places[i];
        }
        kv_page_done(&pages[i]);
    }
    return r < 0 ? r : (int)n_last;
}

int membership_dissolve(struct membership *membership, const uint64_t *ids, size_t n,
                        bool *ret_gone)
{
    uint64_t sizes[MEMBERS_AT_ONCE], clusters[MEMBERS_AT_ONCE];
    size_t places[MEMBERS_AT_ONCE];
    struct member members[MEMBERS_AT_ONCE];

    assert(n <= MEMBERS_AT_ONCE);
    int r = 0;
    for (size_t i = 0; r == 0 && i < n; i++) {
        r = membership_known_size(membership, ids[i], &sizes[i]);
        ret_gone[i] = r == 0 && sizes[i] <= 1;
    }
    if (r < 0)
        return r;
    r = take_last(membership, ids, sizes, n, members, places);
    if (r <= 0)
        return r;
    for (int i = 0; i < r; i++) {
        clusters[i] = ids[places[i]];
        dissolved_clusters_note(&membership->dissolved, members[i].sid, clusters[i]);
    }
    return leave(membership, clusters, members, (size_t)r, false, true, sizes);
}
