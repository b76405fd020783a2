/* An insert adds one document to one cluster. Its neighbours tell which: a cluster they are in, or
 * one that it founds with those that are in none. Where they are in several, those are one from now
 * on: small ones are merged at once; of large ones it joins the largest, and all are marked dirty,
 * to be merged behind (recluster.h).
 *
 * Example: a new version of a text that was split into two halves some time ago resembles both. The
 * clusters of the halves have 3 and 40 documents: the 3 move into the 40, and their id leads there.
 *
 * Cost: the candidates of the document (neighbours.h), one write to join; to merge, one for each 64
 * documents that move. Left out: looking for neighbours beyond the first in a cluster. */
#include "engine/index/clusters/cluster_insert.h"

#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/neighbours.h"

/* Small clusters may have so many times what is clustered anew at once: moving is all it takes. */
enum { MERGED_TIMES = 4 };

/* Those a document belongs to: the clusters, each once, and documents that are in none, itself
 * first. */
struct joining {
    const struct graph *graph;
    const struct coming *coming;
    struct sid_vector clusters, loners;
    uint64_t own; /* one of the clusters: it is in that already; 0: in none */
};

static void joining_done(struct joining *joining)
{
    sid_vector_done(&joining->clusters);
    sid_vector_done(&joining->loners);
}

static int add(struct joining *joining, uint64_t sid, uint64_t cluster)
{
    if (cluster == 0)
        return sid_vector_push(&joining->loners, sid);
    return sid_vector_has(&joining->clusters, cluster)
               ? 0
               : sid_vector_push(&joining->clusters, cluster);
}

/* -- what it belongs to -- */

/* A document that is replaced and in no cluster is not wanted: it has no id to keep, and would only
 * found a cluster to leave it. */
static int wanted(void *user, const uint64_t *sids, size_t n, bool *ret_wanted)
{
    const struct joining *joining = user;
    uint64_t clusters[MEMBERS_AT_ONCE];
    int r = membership_clusters_of(joining->graph->membership, sids, n, clusters);
    for (size_t i = 0; r == 0 && i < n; i++)
        ret_wanted[i] = clusters[i] ? !sid_vector_has(&joining->clusters, clusters[i])
                                    : sids[i] != joining->coming->replaced;
    return r;
}

static int found(void *user, uint64_t sid)
{
    struct joining *joining = user;
    uint64_t cluster;
    int r = membership_clusters_of(joining->graph->membership, &sid, 1, &cluster);
    return r < 0 ? r : add(joining, sid, cluster);
}

/* Lists that have become long with it: other documents than before are candidates by them. */
static int note_grown(const struct graph *graph, const struct sid_vector *grown)
{
    int r = grown->n_sids ? dirty_mark_lists(graph->dirty, grown->sids, grown->n_sids) : 0;
    for (size_t i = 0; r == 0 && i < grown->n_sids; i++)
        r = long_lists_set(graph->long_lists, grown->sids[i], true);
    return r;
}

static int find_neighbours(struct joining *joining)
{
    _cleanup_(sid_vector_done) struct sid_vector candidates = {0}, grown = {0};
    const struct graph *graph = joining->graph;
    const struct min_sketch *sketch = &joining->coming->record->sketch;
    int r = neighbours_candidates(graph, joining->coming->sid, sketch, &candidates, &grown);
    if (r == 0)
        r = note_grown(graph, &grown);
    return r < 0 ? r : neighbours_compare(graph, sketch, &candidates, wanted, found, joining);
}

/* -- joining -- */

/* The cluster that keeps its id: most documents, then the smallest id. */
static int choose(const struct joining *joining, uint64_t *ret_id, uint64_t *ret_others)
{
    struct membership *membership = joining->graph->membership;
    uint64_t best = 0, best_size = 0, sum = 0;

    for (size_t i = 0; i < joining->clusters.n_sids; i++) {
        uint64_t id = joining->clusters.sids[i], size = 0;
        int r = membership_known_size(membership, id, &size);
        if (r < 0)
            return r;
        sum += size;
        if (best == 0 || size > best_size || (size == best_size && id < best)) {
            best = id;
            best_size = size;
        }
    }
    *ret_id = best;
    *ret_others = sum - best_size;
    return 0;
}

/* Returns 1 where they are one now, and no more dirty than one of them was; 0 where they are to
 * become one later; or an error. */
static int merge(const struct joining *joining, uint64_t to, uint64_t n_others)
{
    const struct graph *graph = joining->graph;
    const struct sid_vector *clusters = &joining->clusters;
    bool was_dirty = false;
    for (size_t i = 0; i < clusters->n_sids; i++)
        was_dirty |= dirty_has(graph->dirty, clusters->sids[i]);
    int r = dirty_mark(graph->dirty, clusters->sids, clusters->n_sids);
    if (r < 0 || n_others > MERGED_TIMES * graph->bounds.at_once)
        return r;
    for (size_t i = 0; r == 0 && i < clusters->n_sids; i++)
        if (clusters->sids[i] != to)
            r = cluster_merge(graph, clusters->sids[i], to);
    for (size_t i = 0; r == 0 && i < clusters->n_sids; i++)
        if (clusters->sids[i] != to || !was_dirty)
            r = dirty_clear(graph->dirty, &clusters->sids[i], 1, UINT64_MAX);
    return r < 0 ? r : 1;
}

static int enter(const struct joining *joining, uint64_t id)
{
    const struct coming *coming = joining->coming;
    struct member member;
    if (joining->loners.n_sids > 1)
        return cluster_move(joining->graph, 0, id, &joining->loners);
    member_init(&member, coming->sid, coming->record);
    return membership_insert(joining->graph->membership, id, &member);
}

/* Makes one cluster of them. */
static int join(struct joining *joining)
{
    const struct graph *graph = joining->graph;
    const bool founds = joining->clusters.n_sids == 0;
    uint64_t id = 0, n_others = 0;

    if (founds && joining->loners.n_sids < 2)
        return 0;
    int r = founds ? cluster_new_id(graph, &joining->loners, &id) : choose(joining, &id, &n_others);
    if (r == 0 && joining->clusters.n_sids > 1)
        r = merge(joining, id, n_others);
    if (r == 0 && joining->own) /* it is in no second one until they are one */
        id = joining->own;
    if (r >= 0)
        r = enter(joining, id);
    if (r == 0 && founds)
        r = dirty_clear(graph->dirty, &id, 1, UINT64_MAX);
    return r;
}

/* What may have been inserted in part is put where it belongs once more. */
static int join_again(struct joining *joining)
{
    struct membership *membership = joining->graph->membership;
    const bool repeats = membership->repeating;
    membership->repeating |= joining->coming->may_be_in;
    int r = join(joining);
    membership->repeating = repeats;
    return r;
}

int cluster_insert(const struct graph *graph, const struct coming *coming)
{
    _cleanup_(joining_done) struct joining joining = {.graph = graph, .coming = coming};
    uint64_t cluster = 0;
    int r = sid_vector_push(&joining.loners, coming->sid);

    if (r == 0 && coming->replaced)
        r = membership_clusters_of(graph->membership, &coming->replaced, 1, &cluster);
    if (r == 0 && coming->replaced && cluster == 0)
        dissolved_clusters_replace(&graph->membership->dissolved, coming->replaced, coming->sid);
    cluster = 0;
    if (r == 0 && coming->may_be_in)
        r = membership_clusters_of(graph->membership, &coming->sid, 1, &cluster);
    if (r == 0 && cluster)
        r = add(&joining, coming->sid, joining.own = cluster);
    if (r == 0 && coming->first == coming->sid) {
        r = find_neighbours(&joining);
    } else if (r == 0) {
        bool is_wanted;
        r = wanted(&joining, &coming->first, 1, &is_wanted);
        if (r == 0 && is_wanted)
            r = found(&joining, coming->first);
    }
    return r < 0 ? r : join_again(&joining);
}

int cluster_insert_in_place(const struct graph *graph, const struct coming *coming)
{
    _cleanup_(joining_done) struct joining joining = {.graph = graph, .coming = coming};
    const uint64_t sids[2] = {coming->replaced, coming->sid};
    uint64_t clusters[2];

    if (coming->replaced == 0)
        return 0;
    int r = membership_clusters_of(graph->membership, sids, 2, clusters);
    if (r < 0 || (clusters[1] && !coming->may_be_in))
        return r;
    const uint64_t cluster = clusters[1] ? clusters[1] : clusters[0];
    if (cluster == 0) {
        dissolved_clusters_replace(&graph->membership->dissolved, sids[0], sids[1]);
        return 0;
    }
    r = add(&joining, sids[0], cluster);
    if (r == 0)
        r = add(&joining, sids[1], 0);
    return r < 0 ? r : join_again(&joining);
}
