/* Clusters for who may not read everything: one, as it is shown, and all of them one by one. The
 * listing goes through all files in the order of their keys; a document that was found in a cluster
 * before is not asked about again.
 */
#include "engine/index/answers/readable_clusters.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "engine/index/members/cluster_ids.h"
#include "engine/index/members/member.h"
#include "engine/index/answers/readable_cluster.h"
#include "engine/index/tables/number_vector.h"

/* -- one -- */

/* By the rule of all clusters (living_clusters.h). */
static size_t representative_of(const struct readable_cluster *cluster)
{
    struct member best, member;
    size_t found = 0;
    member_init(&best, cluster->members[0].sid, cluster->members[0].record);
    for (size_t i = 1; i < cluster->n_members; i++) {
        member_init(&member, cluster->members[i].sid, cluster->members[i].record);
        const uint8_t n = best.rank_bytes < member.rank_bytes ? best.rank_bytes : member.rank_bytes;
        if (memcmp(member.rank, best.rank, n) < 0) {
            best = member;
            found = i;
        }
    }
    return found;
}

static int take_kin(struct readable_member *member, const struct record *representative,
                    struct kin *ret_kin)
{
    struct estimate estimate = {.value = 1.0, .exact = true};
    int r = member->record == representative
                ? 0
                : record_resemblance(representative, member->record, &estimate);
    if (r < 0)
        return r;
    *ret_kin = kin_of(member->sid, member->record, &estimate);
    ret_kin->path = TAKE_PTR(member->path);
    return 0;
}

/* All members, the representative first; the paths are the list's then. */
static int list_members(struct readable_cluster *cluster, struct kin_list *list,
                        struct cluster_info *info)
{
    const size_t first = representative_of(cluster);
    const struct record *representative = cluster->members[first].record;
    double sum = 0;
    int r = 0;
    info->resemblance_min = 1.0;
    for (size_t i = 0; r == 0 && i < cluster->n_members; i++) {
        const size_t at = i == 0 ? first : i <= first ? i - 1 : i;
        struct kin kin = {0};
        r = take_kin(&cluster->members[at], representative, &kin);
        if (r < 0)
            break;
        info->resemblance_min = fmin(info->resemblance_min, kin.resemblance);
        sum += i > 0 ? kin.resemblance : 0;
        r = kin_list_add(list, &kin);
        kin_done(&kin);
    }
    info->resemblance_mean = sum / (double)(cluster->n_members - 1);
    return r;
}

static int describe(struct readable_cluster *cluster, uint64_t base,
                    const struct index_query *query, struct cluster_info *ret_info,
                    struct kin_list *ret_members)
{
    _cleanup_(kin_list_done) struct kin_list list = {0};
    struct cluster_info info = {.id = readable_cluster_id(cluster, base),
                                .size = cluster->n_members};
    int r = list_members(cluster, &list, &info);
    if (r < 0)
        return r;
    info.representative = list.kin[0];
    info.representative.path = strdup(list.kin[0].path);
    if (!info.representative.path)
        return -ENOMEM;
    qsort(list.kin + 1, list.n_kin - 1, sizeof(*list.kin), kin_compare);
    kin_list_cut(&list, query->limit);
    *ret_info = info;
    if (ret_members) {
        *ret_members = list;
        list = (struct kin_list){0};
    }
    return 0;
}

/* The component that a document is in; once more where a document of it has to be looked at again
 * first. */
static int find_component(struct index *index, uint64_t sid, uint64_t base,
                          const struct index_query *query, struct readable_known *known,
                          struct readable_cluster *cluster)
{
    const double threshold = named_clusterings_threshold(&index->named, base);
    if (!index_clustering_is_of_pairs(index, base))
        return -ENOENT;
    const bool divides = base == 0;
    int r = readable_cluster_find(index, sid, threshold, divides, query, known, cluster);
    if ((r == -ESTALE || (r == 0 && cluster->is_stale)) && answer_look_again(index, query)) {
        readable_cluster_done(cluster);
        r = readable_cluster_find(index, sid, threshold, divides, query, known, cluster);
    }
    return r == -ESTALE || r == -E2BIG ? -ENOENT : r;
}

/* The cluster of two or more that a document is in. */
static int find(struct index *index, uint64_t sid, uint64_t base, const struct index_query *query,
                struct readable_cluster *cluster)
{
    int r = find_component(index, sid, base, query, NULL, cluster);
    if (r == 0)
        readable_cluster_keep(cluster, sid);
    return r == 0 && cluster->n_members < 2 ? -ENOENT : r;
}

int index_readable_cluster(struct index *index, const struct file_key *file, uint64_t base,
                           const struct index_query *query, struct cluster_info *ret_info,
                           struct kin_list *ret_members)
{
    _cleanup_(readable_cluster_done) struct readable_cluster cluster = {0};
    struct file_row row;
    int r = catalogue_get_file(index->kv, file, &row);
    if (r == 0)
        r = row.sid ? find(index, row.sid, base, query, &cluster) : -ENOENT;
    return r < 0 ? r : describe(&cluster, base, query, ret_info, ret_members);
}

int readable_clusters_answer(struct index *index, uint64_t id, const struct index_query *query,
                             struct cluster_info *ret_info, struct kin_list *ret_members)
{
    _cleanup_(readable_cluster_done) struct readable_cluster cluster = {0};
    const uint64_t base = clustering_base(cluster_clustering(id));
    const uint64_t sid = readable_cluster_sid(index, id);
    int r = sid ? find(index, sid, base, query, &cluster) : -ENOENT;
    if (r == 0 && readable_cluster_id(&cluster, base) != id)
        r = -ENOENT; /* it is named by another document */
    return r < 0 ? r : describe(&cluster, base, query, ret_info, ret_members);
}

/* -- all -- */

/* For a search. A view waits for 20 seconds (SLOW_TURN_MS), and a step can be two. */
enum { FILES_AT_ONCE = 256, MOST_MS = 8000 };

struct index_readable_clusters {
    struct index *index;
    uint64_t base;
    struct readable_known known;
    struct number_vector ids;
    struct file_list files; /* a page of all files */
    size_t at;              /* in it */
    bool begun;
};

int index_readable_clusters_new(struct index *index, uint64_t base,
                                struct index_readable_clusters **ret_clusters)
{
    struct index_readable_clusters *clusters = calloc(1, sizeof(*clusters));
    if (!clusters)
        return -ENOMEM;
    clusters->index = index;
    clusters->base = base;
    clusters->known.most_ms = MOST_MS;
    *ret_clusters = clusters;
    return 0;
}

void index_readable_clusters_free(struct index_readable_clusters *clusters)
{
    if (!clusters)
        return;
    readable_known_done(&clusters->known);
    number_vector_done(&clusters->ids);
    file_list_done(&clusters->files);
    free(clusters);
}

/* Returns 1, or 0 when there is no file more. */
static int turn_page(struct index_readable_clusters *clusters)
{
    struct file_list *files = &clusters->files;
    struct file_key last;
    if (clusters->begun && (!files->more || files->n_files == 0))
        return 0;
    if (clusters->begun)
        last = files->keys[files->n_files - 1];
    file_list_done(files);
    *files = (struct file_list){0};
    clusters->at = 0;
    int r =
        catalogue_files(clusters->index->kv, clusters->begun ? &last : NULL, FILES_AT_ONCE, files);
    if (r < 0)
        return r;
    clusters->begun = true;
    return files->n_files > 0;
}

static int by_star(const void *a, const void *b)
{
    const struct readable_member *x = a, *y = b;
    return (x->star > y->star) - (x->star < y->star);
}

/* The clusters of two or more that a component is. */
static int add_clusters(struct index_readable_clusters *clusters,
                        struct readable_cluster *component)
{
    int r = 0;
    if (component->n_members)
        qsort(component->members, component->n_members, sizeof(component->members[0]), by_star);
    for (size_t at = 0, end; r == 0 && at < component->n_members; at = end) {
        for (end = at + 1; end < component->n_members &&
                           component->members[end].star == component->members[at].star;)
            end++;
        const struct readable_cluster cluster = {
            .index = component->index, .members = component->members + at, .n_members = end - at};
        if (end - at > 1)
            r = number_vector_push(&clusters->ids, readable_cluster_id(&cluster, clusters->base));
    }
    return r;
}

static int look_at(struct index_readable_clusters *clusters, uint64_t sid,
                   const struct index_query *query)
{
    _cleanup_(readable_cluster_done) struct readable_cluster component = {0};
    int r =
        find_component(clusters->index, sid, clusters->base, query, &clusters->known, &component);
    if (r == 0)
        r = add_clusters(clusters, &component);
    return r == -ENOENT ? 0 : r;
}

int index_readable_clusters_step(struct index_readable_clusters *clusters,
                                 const struct index_query *query)
{
    struct file_list *files = &clusters->files;
    if (clusters->at == files->n_files) {
        int r = turn_page(clusters);
        if (r <= 0)
            return r;
    }
    const uint64_t sid = files->rows[clusters->at].sid;
    int r = sid && !readable_known_has(&clusters->known, sid) ? look_at(clusters, sid, query) : 0;
    if (r < 0)
        return r;
    clusters->at++;
    return 1;
}

size_t index_readable_clusters_ids(const struct index_readable_clusters *clusters,
                                   const uint64_t **ret_ids)
{
    *ret_ids = clusters->ids.numbers;
    return clusters->ids.n_numbers;
}

size_t index_readable_clusters_bytes(const struct index_readable_clusters *clusters)
{
    return readable_known_bytes(&clusters->known) +
           clusters->ids.capacity * sizeof(clusters->ids.numbers[0]);
}
