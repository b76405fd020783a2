/* Clusters, as they are shown; single documents: document_answer.c. */
#include <errno.h>
#include <math.h>

#include "engine/index/answers/answer.h"
#include "engine/index/answers/readable_clusters.h"

/* A listing with a limit compares so many of a cluster, as index_similar() does; and of those that
 * come first so many may have no path where nobody wants the members. */
enum { LISTED_MOST = 1000, WITHOUT_PATH_MOST = 63 };

void cluster_info_done(struct cluster_info *info)
{
    kin_done(&info->representative);
    *info = (struct cluster_info){0};
}

/* -- a cluster -- */

struct summary {
    uint64_t n_members, n_others; /* n_others: without the representative */
    double min, sum;              /* of the others' resemblance to the representative */
    bool lists;                   /* all of them; else only the representative is kept */
    struct kin_list list;
};

/* Adds members; the first is the one the others are compared with. */
static int add_members(struct index *index, const uint64_t *sids, size_t n,
                       struct document *representative, struct path_cache *paths,
                       struct summary *summary)
{
    const struct record *members[LOAD_AT_ONCE];
    int r = records_borrow(index->records, sids, n, members);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < n; i++) {
        struct kin kin;
        bool first = !representative->record;
        if (!members[i])
            continue;
        r = answer_member(index, paths, sids[i], members[i], representative->record, &kin);
        if (r == 0) {
            summary->n_members++;
            summary->n_others += !first;
            summary->sum += first ? 0.0 : kin.resemblance;
            summary->min = fmin(summary->min, kin.resemblance);
            if (first || summary->lists)
                r = kin_list_add(&summary->list, &kin);
            kin_done(&kin);
            if (first) {
                *representative = (struct document){index->records, sids[i], members[i]};
                members[i] = NULL;
            }
        } else if (r == -ENOENT) {
            r = 0;
        }
    }
    records_return(index->records, members, n);
    return r;
}

static int copy_kin(const struct kin *kin, struct kin *ret_copy)
{
    struct kin copy = *kin;
    copy.path = strdup(kin->path);
    if (!copy.path)
        return -ENOMEM;
    *ret_copy = copy;
    return 0;
}

/* The first n_wanted members that are there, 0 for all. ret_size is of all. Where none of those
 * that come first is there, the others are looked at for a list alone: somebody may have put as
 * many as he likes too far down to have a path, and who asks for the representative does so for
 * each document. */
static int summarise(struct index *index, uint64_t stored, size_t n_wanted, bool lists,
                     const struct index_query *query, struct summary *ret_summary,
                     uint64_t *ret_size)
{
    _cleanup_(sid_list_done) struct sid_list members = {0};
    _cleanup_(document_done) struct document representative = {0};
    _cleanup_(path_cache_free_p) struct path_cache *paths = NULL;
    struct summary summary = {.min = 1.0, .lists = lists};
    /* Some may have gone. */
    const size_t n_most = n_wanted ? n_wanted + (lists ? LOAD_AT_ONCE : WITHOUT_PATH_MOST) : 0;
    size_t at = 0;
    int r = living_clusters_members(index->clusters, stored, n_most, &members);
    if (r == 0)
        r = path_cache_new(index->kv, backing_root_key(index->backing), &paths);
    while (r == 0 && at < members.n_sids && (!n_wanted || summary.n_members < n_wanted)) {
        size_t n = members.n_sids - at;
        if (n_wanted && n > n_wanted - summary.n_members)
            n = n_wanted - summary.n_members;
        if (n > LOAD_AT_ONCE)
            n = LOAD_AT_ONCE;
        r = answer_is_stopped(query)
                ? -EINTR
                : add_members(index, members.sids + at, n, &representative, paths, &summary);
        at += n;
    }
    *ret_size = summary.n_members;
    if (r == 0 && (at < members.n_sids || at == n_most)) {
        summary.min = summary.sum = NAN;
        r = living_clusters_size(index->clusters, stored, ret_size);
    }
    *ret_summary = summary;
    if (r == 0 && !summary.n_members && n_most && lists)
        return summarise(index, stored, 0, lists, query, ret_summary, ret_size);
    return r;
}

int index_cluster(struct index *index, uint64_t id, const struct index_query *query,
                  struct cluster_info *ret_info, struct kin_list *ret_members)
{
    struct summary summary = {0};
    struct cluster_info info = {.id = id};

    if (query->may_read)
        return readable_clusters_answer(index, id, query, ret_info, ret_members);
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    const size_t n_wanted =
        ret_members && query->limit && query->limit < LISTED_MOST ? LISTED_MOST : query->limit;
    int r = stored ? summarise(index, stored, n_wanted, ret_members != NULL, query, &summary,
                               &info.size)
                   : -ENOENT;
    _cleanup_(kin_list_done) struct kin_list list = summary.list;
    if (r < 0)
        return r;
    if (list.n_kin == 0)
        return -ENOENT;

    r = copy_kin(&list.kin[0], &info.representative);
    if (r < 0)
        return r;
    if (list.n_kin > 1)
        qsort(list.kin + 1, list.n_kin - 1, sizeof(*list.kin), kin_compare);
    kin_list_cut(&list, query->limit);
    info.repairing = living_clusters_is_dirty(index->clusters, stored);
    info.stale = named_clusterings_is_stale(&index->named, stored);
    info.resemblance_min = summary.min;
    info.resemblance_mean = isnan(summary.min) ? NAN
                            : summary.n_others ? summary.sum / (double)summary.n_others
                                               : 1.0;
    *ret_info = info;
    if (ret_members) {
        *ret_members = list;
        list = (struct kin_list){0};
    }
    return 0;
}

int index_cluster_ids(struct index *index, uint64_t after, size_t limit, uint64_t *ret_ids)
{
    /* A number above all ids is the base of a clustering, and shown as it is. */
    const uint64_t read = shown_ids_read(&index->shown_ids, after);
    int n = living_clusters_ids(index->clusters, read ? read : after, limit, ret_ids);
    for (int i = 0; i < n; i++)
        ret_ids[i] = shown_ids_show(&index->shown_ids, ret_ids[i]);
    return n;
}

int index_has_cluster(struct index *index, uint64_t id)
{
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    uint64_t found;
    int n = stored ? living_clusters_ids(index->clusters, stored - 1, 1, &found) : 0;
    return n <= 0 ? n : found == stored;
}

int index_cluster_alias(struct index *index, uint64_t id, uint64_t *ret_id)
{
    const uint64_t stored = shown_ids_read(&index->shown_ids, id);
    uint64_t cluster;
    int r = stored ? living_clusters_alias(index->clusters, stored, &cluster) : -ENOENT;
    if (r == 0)
        *ret_id = shown_ids_show(&index->shown_ids, cluster);
    return r;
}
