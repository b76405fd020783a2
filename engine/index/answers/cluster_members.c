/* The members of a cluster of any size. All are compared with the representative first, and of each
 * its number and its resemblance are kept; then they are told in that order, some at a time, whose
 * paths are looked for by then.
 *
 * Example: of a cluster of 10,000 documents that are equal 160 KB are in memory, and the paths of
 * 4,096, where all of these may have forty megabytes.
 *
 * Cost: each record twice, a path for each that is told of. */
#include <errno.h>

#include "engine/index/answers/answer.h"

struct ranked {
    uint64_t sid;
    double resemblance;
};

struct members {
    struct index *index;
    const struct index_query *query;
    struct path_cache *paths;
    struct document representative; /* without a record: not found yet */
    struct ranked *ranked;          /* the representative first, once all are ranked */
    size_t n;
};

static void members_done(struct members *members)
{
    path_cache_free(members->paths);
    document_done(&members->representative);
    free(members->ranked);
}

/* Does something with a record, whose reference it may take. */
typedef int (*record_fn)(struct members *members, uint64_t sid, const struct record **record,
                         struct kin_list *list);

/* Some at a time. */
static int each_record(struct members *members, const uint64_t *sids, size_t n, record_fn take,
                       struct kin_list *list)
{
    int r = 0;
    for (size_t at = 0; r == 0 && at < n; at += LOAD_AT_ONCE) {
        const struct record *records[LOAD_AT_ONCE];
        const size_t some = n - at < LOAD_AT_ONCE ? n - at : LOAD_AT_ONCE;
        r = answer_is_stopped(members->query)
                ? -EINTR
                : records_borrow(members->index->records, sids + at, some, records);
        if (r < 0)
            return r;
        for (size_t i = 0; r == 0 && i < some; i++)
            r = records[i] ? take(members, sids[at + i], &records[i], list) : 0;
        records_return(members->index->records, records, some);
    }
    return r;
}

/* -- ranking -- */

/* 1: the document has a path, as the representative does; 0, or an error. */
static int has_path(struct members *members, const struct record *record)
{
    _cleanup_free_ char *path = NULL;
    int r = answer_path(members->index, members->paths, &record->key, &path);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* The representative takes the record's reference. */
static int rank_one(struct members *members, uint64_t sid, const struct record **record,
                    struct kin_list *list)
{
    (void)list;
    struct estimate estimate = {.value = 1.0, .exact = true};
    int r;
    if (!members->representative.record) {
        r = has_path(members, *record);
        if (r <= 0)
            return r;
        members->representative = (struct document){members->index->records, sid, *record};
        *record = NULL;
    } else {
        r = record_resemblance(members->representative.record, *record, &estimate);
        if (r < 0)
            return r;
    }
    members->ranked[members->n++] = (struct ranked){sid, estimate.value};
    return 0;
}

static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->resemblance != y->resemblance)
        return x->resemblance < y->resemblance ? 1 : -1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static int rank_all(struct members *members, uint64_t stored)
{
    struct index *index = members->index;
    _cleanup_(sid_list_done) struct sid_list sids = {0};
    int r = living_clusters_members(index->clusters, stored, 0, &sids);
    if (r == 0)
        r = path_cache_new(index->kv, backing_root_key(index->backing), &members->paths);
    if (r == 0 && !(members->ranked = calloc(sids.n_sids + 1, sizeof(*members->ranked))))
        r = -ENOMEM;
    if (r == 0)
        r = each_record(members, sids.sids, sids.n_sids, rank_one, NULL);
    if (r < 0)
        return r;
    if (members->n > 1)
        qsort(members->ranked + 1, members->n - 1, sizeof(*members->ranked), compare_ranked);
    return members->n ? 0 : -ENOENT;
}

/* -- telling -- */

static int add_kin(struct members *members, uint64_t sid, const struct record **record,
                   struct kin_list *list)
{
    const struct document *first = &members->representative;
    struct kin kin;
    int r = answer_member(members->index, members->paths, sid, *record,
                          sid == first->sid ? NULL : first->record, &kin);
    if (r < 0)
        return r == -ENOENT ? 0 : r; /* it has gone since */
    r = kin_list_add(list, &kin);
    kin_done(&kin);
    return r;
}

/* The representative stays the first of all. */
static void sort(const struct members *members, struct kin_list *list)
{
    const bool has_first = list->n_kin && list->kin[0].sid == members->representative.sid;
    if (list->n_kin > has_first)
        qsort(list->kin + has_first, list->n_kin - has_first, sizeof(*list->kin), kin_compare);
}

static int tell_some(struct members *members, const struct ranked *ranked, size_t n,
                     index_member_fn member, void *user)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    uint64_t sids[INDEX_MEMBERS_AT_ONCE];
    for (size_t i = 0; i < n; i++)
        sids[i] = ranked[i].sid;
    int r = each_record(members, sids, n, add_kin, &list);
    sort(members, &list);
    for (size_t i = 0; r == 0 && i < list.n_kin; i++)
        r = member(user, &list.kin[i]);
    return r;
}

/* So many of all, evenly taken: the others are not told of. */
static void thin_out(struct members *members, size_t most)
{
    if (most == 0 || members->n <= most)
        return;
    for (size_t i = 0; i < most; i++)
        members->ranked[i] = members->ranked[i * members->n / most];
    members->n = most;
}

int index_cluster_members(struct index *index, uint64_t id, size_t most,
                          const struct index_query *query, uint64_t *ret_size,
                          index_member_fn member, void *user)
{
    _cleanup_(members_done) struct members members = {.index = index, .query = query};
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    int r = stored ? rank_all(&members, stored) : -ENOENT;
    if (r < 0)
        return r;
    *ret_size = members.n;
    thin_out(&members, most);
    for (size_t at = 0; r == 0 && at < members.n; at += INDEX_MEMBERS_AT_ONCE) {
        const size_t n = members.n - at;
        r = tell_some(&members, members.ranked + at,
                      n < INDEX_MEMBERS_AT_ONCE ? n : INDEX_MEMBERS_AT_ONCE, member, user);
    }
    return r;
}
