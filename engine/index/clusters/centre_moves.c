/* What a plan comes to: which documents move into which clusters. A centre that stays one keeps its
 * cluster; one that is new takes over that of a centre which is none any more, if most of the
 * documents of that come to it; else it gets its own. */
#include <errno.h>
#include <stdlib.h>

#include "engine/index/clusters/centre_plan.h"
#include "engine/index/tables/classes.h"

/* The documents that get one centre. */
struct group {
    struct place centre;
    uint64_t to;     /* the cluster; 0: none yet */
    uint64_t n;      /* documents that come, or are the centre's */
    bool has_centre; /* its documents are among them, or it has its cluster */
};

struct groups {
    struct group *groups;
    uint32_t n;
    struct id_map by_sid; /* of their centres */
};

static void groups_done(struct groups *groups)
{
    free(groups->groups);
    id_map_done(&groups->by_sid);
}

static bool is_changed(const struct spot *spot)
{
    return spot->done && (spot->is_new || !place_equal(&spot->has, &spot->had));
}

/* The documents of a node that are in the clustering and stay. */
static int documents_of(const struct centre_plan *plan, const struct place *node,
                        struct sid_vector *sids)
{
    size_t n = 0;
    int r = classes_list(plan->graph->kv, node->order + ORDER_BYTES - CLASS_BYTES, 0, sids);
    for (size_t i = 0; r == 0 && i < sids->n_sids; i++)
        if (!centre_plan_excludes(plan, sids->sids[i]))
            sids->sids[n++] = sids->sids[i];
    if (r == 0)
        sids->n_sids = n;
    return r;
}

static int count_documents(const struct centre_plan *plan, const struct place *node,
                           uint64_t *ret_n)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    uint32_t i = id_map_find(&plan->by_sid, node->sid);
    if (i != ID_MAP_NONE && plan->spots[i].n_documents) {
        *ret_n = plan->spots[i].n_documents;
        return 0;
    }
    int r = documents_of(plan, node, &sids);
    *ret_n = sids.n_sids;
    return r;
}

/* The group of a centre; that of one which has a cluster and stays a centre keeps it. */
static int find_group(const struct centre_plan *plan, struct groups *groups,
                      const struct place *centre, struct group **ret_group)
{
    uint32_t i = id_map_find(&groups->by_sid, centre->sid);
    if (i == ID_MAP_NONE) {
        struct group group = {.centre = *centre};
        uint32_t at = id_map_find(&plan->by_sid, centre->sid);
        int r = 0;
        if (at == ID_MAP_NONE)
            r = membership_clusters_of(plan->graph->membership, &centre->sid, 1, &group.to);
        else if (place_equal(&plan->spots[at].had, &plan->spots[at].node))
            group.to = plan->spots[at].cluster;
        group.has_centre = group.to != 0;
        if (r == 0)
            r = id_map_add(&groups->by_sid, centre->sid, groups->n);
        if (r < 0)
            return r;
        i = groups->n++;
        groups->groups[i] = group;
    }
    *ret_group = &groups->groups[i];
    return 0;
}

static int make_groups(const struct centre_plan *plan, struct groups *groups)
{
    int r = 0;

    groups->groups = calloc(plan->n_spots + 1, sizeof(*groups->groups));
    if (!groups->groups)
        return -ENOMEM;
    for (uint32_t i = 0; r == 0 && i < plan->n_spots; i++) {
        const struct spot *spot = &plan->spots[i];
        struct group *group;
        uint64_t n = 0;
        if (!is_changed(spot))
            continue;
        r = find_group(plan, groups, &spot->has, &group);
        if (r == 0)
            r = count_documents(plan, &spot->node, &n);
        if (r < 0)
            break;
        group->n += n;
        group->has_centre = group->has_centre || place_equal(&spot->has, &spot->node);
    }
    for (uint32_t i = 0; r == 0 && i < groups->n; i++) {
        uint64_t n = 0;
        if (groups->groups[i].has_centre)
            continue;
        r = count_documents(plan, &groups->groups[i].centre, &n);
        groups->groups[i].n += n;
    }
    return r;
}

/* Documents of a cluster that come to a group without one. */
struct heir {
    uint64_t cluster, n;
    uint32_t group;
};

static int compare_heirs(const void *a, const void *b)
{
    const struct heir *x = a, *y = b;
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    return (x->group > y->group) - (x->group < y->group);
}

/* Whether a cluster has lost its centre. */
static bool is_orphaned(const struct centre_plan *plan, const struct spot *spot)
{
    uint32_t i = id_map_find(&plan->by_sid, spot->had.sid);
    if (spot->cluster == 0)
        return false;
    return sid_vector_finds(plan->leaving, spot->had.sid) ||
           (i != ID_MAP_NONE && plan->spots[i].done &&
            !place_equal(&plan->spots[i].has, &plan->spots[i].node));
}

/* Clusters whose centre is none any more go to the groups that get most of their documents. */
static int inherit(const struct centre_plan *plan, struct groups *groups)
{
    _cleanup_free_ struct heir *heirs = calloc(plan->n_spots + 1, sizeof(*heirs));
    size_t n = 0, n_sums = 0;

    if (!heirs)
        return -ENOMEM;
    for (uint32_t i = 0; i < plan->n_spots; i++) {
        const struct spot *spot = &plan->spots[i];
        if (!is_changed(spot) || !is_orphaned(plan, spot))
            continue;
        heirs[n] = (struct heir){spot->cluster, 0, id_map_find(&groups->by_sid, spot->has.sid)};
        int r = count_documents(plan, &spot->node, &heirs[n++].n);
        if (r < 0)
            return r;
    }
    if (n)
        qsort(heirs, n, sizeof(*heirs), compare_heirs);
    for (size_t i = 0; i < n; i++) {
        struct heir *last = n_sums ? &heirs[n_sums - 1] : NULL;
        if (last && last->cluster == heirs[i].cluster && last->group == heirs[i].group)
            last->n += heirs[i].n;
        else
            heirs[n_sums++] = heirs[i];
    }
    for (size_t at = 0, end; at < n_sums; at = end) {
        struct group *best = NULL;
        uint64_t best_n = 0;
        for (end = at; end < n_sums && heirs[end].cluster == heirs[at].cluster; end++) {
            struct group *group = &groups->groups[heirs[end].group];
            if (group->to || group->n < 2)
                continue;
            if (!best || heirs[end].n > best_n ||
                (heirs[end].n == best_n && place_before(&group->centre, &best->centre))) {
                best = group;
                best_n = heirs[end].n;
            }
        }
        if (best)
            best->to = heirs[at].cluster;
    }
    return 0;
}

static int give_ids(const struct centre_plan *plan, struct groups *groups)
{
    int r = inherit(plan, groups);
    for (uint32_t i = 0; r == 0 && i < groups->n; i++) {
        struct group *group = &groups->groups[i];
        if (group->to == 0 && group->n > 1)
            r = cluster_ids_new(&plan->graph->membership->ids, plan->graph->kv, &group->to);
    }
    return r;
}

/* -- the intent -- */

static int add_moves(const struct centre_plan *plan, const struct place *node, uint64_t from,
                     uint64_t to, struct cluster_moves *moves)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    int r = from == to ? 0 : documents_of(plan, node, &sids);
    for (size_t i = 0; r == 0 && i < sids.n_sids; i++)
        r = cluster_moves_add(moves, sids.sids[i], from, to);
    return r;
}

static int put_moves(const struct centre_plan *plan, struct groups *groups,
                     struct cluster_intent *intent)
{
    _cleanup_(cluster_moves_done) struct cluster_moves moves = {0};
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < plan->n_spots; i++) {
        const struct spot *spot = &plan->spots[i];
        if (!is_changed(spot))
            continue;
        uint32_t group = id_map_find(&groups->by_sid, spot->has.sid);
        r = add_moves(plan, &spot->node, spot->cluster, groups->groups[group].to, &moves);
    }
    for (uint32_t i = 0; r == 0 && i < groups->n; i++) /* a centre that was alone */
        if (!groups->groups[i].has_centre)
            r = add_moves(plan, &groups->groups[i].centre, 0, groups->groups[i].to, &moves);
    return r < 0 ? r : cluster_intent_add_moves(intent, &moves);
}

int centre_plan_moves(const struct centre_plan *plan, struct cluster_intent *intent)
{
    _cleanup_(groups_done) struct groups groups = {0};

    int r = make_groups(plan, &groups);
    if (r == 0)
        r = give_ids(plan, &groups);
    return r < 0 ? r : put_moves(plan, &groups, intent);
}
