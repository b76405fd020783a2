#include "engine/index/clusters/remake_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "engine/cluster/parallel.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/tables/cluster_heads.h"
#include "engine/index/clusters/id_votes.h"
#include "engine/index/tables/member.h"
#include "engine/index/clusters/neighbours.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

void remake_plan_done(struct remake_plan *plan)
{
    sid_vector_done(&plan->sids);
    free(plan->groups);
    free(plan->ids);
    free(plan->moves);
    free(plan->joins);
    *plan = (struct remake_plan){0};
}

/* -- what is stored -- */

/* By number. */
struct stored {
    uint64_t *clusters; /* 0: in none */
    uint32_t *ranks;    /* among its members */
    uint32_t *sizes;    /* of groups, by their smallest number */
};

static void stored_done(struct stored *stored)
{
    free(stored->clusters);
    free(stored->ranks);
    free(stored->sizes);
}

static int read_members(const struct remake_plan *plan, struct kv *kv, unsigned number,
                        const bool *stop, struct stored *stored)
{
    _cleanup_(table_walk_done) struct table_walk walk = {0};
    uint8_t from[8];
    struct kv_entry row;
    uint64_t cluster = 0;
    uint32_t rank = 0;
    put_be64(from, clustering_base(number));
    int r = table_walk_begin(&walk, kv, TABLE_MEMBERS, (struct kv_slice){from, sizeof(from)});
    while (r == 0 && (r = table_walk_next(&walk, &row)) > 0) {
        struct member member;
        if (row.key.size_bytes < 8)
            return -EUCLEAN;
        const uint64_t id = get_be64(row.key.data);
        if (id >= clustering_base(number + 1))
            return 0;
        if (parallel_told(stop))
            return -ESHUTDOWN;
        rank = id == cluster ? rank : 0;
        cluster = id;
        r = row.key.size_bytes == HEAD_KEY_BYTES ? 0 : member_parse(&row.key, &member);
        size_t place = r < 0 || row.key.size_bytes == HEAD_KEY_BYTES
                           ? SIZE_MAX
                           : sid_vector_place(&plan->sids, member.sid);
        if (place == SIZE_MAX)
            continue;
        stored->clusters[place] = cluster;
        stored->ranks[place] = rank++;
    }
    return r;
}

static int read_stored(const struct remake_plan *plan, struct kv *kv, unsigned number,
                       const bool *stop, struct stored *stored)
{
    const size_t n = plan->sids.n_sids;
    stored->clusters = calloc(n + 1, sizeof(*stored->clusters));
    stored->ranks = calloc(n + 1, sizeof(*stored->ranks));
    stored->sizes = calloc(n + 1, sizeof(*stored->sizes));
    if (!stored->clusters || !stored->ranks || !stored->sizes)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        stored->sizes[plan->groups[i]]++;
    return read_members(plan, kv, number, stop, stored);
}

/* -- ids -- */

static bool is_alone(const struct remake_plan *plan, const struct stored *stored, size_t number)
{
    return stored->sizes[plan->groups[number]] < 2;
}

/* Clusters that keep no id go where most of their documents do. */
static int add_joins(struct remake_plan *plan, const struct id_vote *votes, size_t n_votes,
                     const struct id_map *given, struct id_map *joins)
{
    plan->joins = calloc(n_votes + 1, sizeof(*plan->joins));
    if (!plan->joins)
        return -ENOMEM;
    for (size_t i = 0; i < n_votes; i++) {
        const uint64_t cluster = votes[i].cluster;
        if (id_map_find(given, cluster) != ID_MAP_NONE ||
            id_map_find(joins, cluster) != ID_MAP_NONE)
            continue;
        int r = id_map_add(joins, cluster, (uint32_t)plan->n_joins);
        if (r < 0)
            return r;
        plan->joins[plan->n_joins++] = (struct remake_join){cluster, votes[i].part, 0};
    }
    return 0;
}

static int decide_ids(struct remake_plan *plan, const struct stored *stored, struct id_map *joins)
{
    const size_t n = plan->sids.n_sids;
    _cleanup_(id_map_done) struct id_map given = {0};
    size_t n_votes = 0;
    for (size_t i = 0; i < n; i++)
        n_votes += stored->clusters[i] && !is_alone(plan, stored, i);
    _cleanup_free_ struct id_vote *votes = calloc(n_votes + 1, sizeof(*votes));
    plan->ids = calloc(n + 1, sizeof(*plan->ids));
    if (!votes || !plan->ids)
        return -ENOMEM;
    n_votes = 0;
    for (size_t i = 0; i < n; i++)
        if (stored->clusters[i] && !is_alone(plan, stored, i))
            votes[n_votes++] =
                (struct id_vote){stored->clusters[i], plan->groups[i], stored->ranks[i], 1};
    n_votes = id_votes_count(votes, n_votes);
    int r = id_votes_decide(votes, n_votes, plan->ids, &given);
    return r < 0 ? r : add_joins(plan, votes, n_votes, &given, joins);
}

/* -- moves -- */

static int by_group(const void *a, const void *b)
{
    const struct remake_move *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Some of a cluster that becomes part of another are left to the end, and moved with its id. */
static bool is_left(struct remake_plan *plan, const struct id_map *joins, uint64_t cluster,
                    uint32_t group)
{
    const uint32_t place = id_map_find(joins, cluster);
    if (place == ID_MAP_NONE || plan->joins[place].group != group ||
        plan->joins[place].n_left == plan->a_step)
        return false;
    plan->joins[place].n_left++;
    return true;
}

static int add_moves(struct remake_plan *plan, const struct stored *stored,
                     const struct id_map *joins)
{
    const size_t n = plan->sids.n_sids;
    size_t capacity = 0;
    for (size_t i = 0; i < n; i++) {
        const bool alone = is_alone(plan, stored, i);
        const uint32_t group = alone ? REMAKE_ALONE : plan->groups[i];
        if (alone ? stored->clusters[i] == 0
                  : plan->ids[group] != 0 && stored->clusters[i] == plan->ids[group])
            continue;
        if (!alone && stored->clusters[i] && is_left(plan, joins, stored->clusters[i], group))
            continue;
        if (plan->n_moves == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            struct remake_move *larger = reallocarray(plan->moves, capacity, sizeof(*plan->moves));
            if (!larger)
                return -ENOMEM;
            plan->moves = larger;
        }
        plan->moves[plan->n_moves++] = (struct remake_move){(uint32_t)i, group};
    }
    if (plan->n_moves)
        qsort(plan->moves, plan->n_moves, sizeof(*plan->moves), by_group);
    return 0;
}

int remake_plan_make(struct remake_plan *plan, struct kv *kv, unsigned number, const bool *stop)
{
    _cleanup_(stored_done) struct stored stored = {0};
    _cleanup_(id_map_done) struct id_map joins = {0};
    int r = read_stored(plan, kv, number, stop, &stored);
    if (r == 0)
        r = decide_ids(plan, &stored, &joins);
    return r < 0 ? r : add_moves(plan, &stored, &joins);
}

/* -- carrying it out -- */

/* All documents of a group without an id are among the moves, and follow each other. */
static int give_id(struct remake_plan *plan, const struct graph *graph, size_t move)
{
    _cleanup_(sid_vector_done) struct sid_vector sids = {0};
    const uint32_t group = plan->moves[move].group;
    int r = 0;
    for (; r == 0 && move < plan->n_moves && plan->moves[move].group == group; move++)
        r = sid_vector_push(&sids, plan->sids.sids[plan->moves[move].number]);
    return r < 0 ? r : cluster_change_new_id(graph, &sids, &plan->ids[group]);
}

static int move_some(struct remake_plan *plan, const struct graph *graph)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {.kind = INTENT_MOVE};
    _cleanup_(cluster_moves_done) struct cluster_moves moves = {0};
    uint64_t sids[REMAKE_STEP_MAX], from[REMAKE_STEP_MAX], to[REMAKE_STEP_MAX];
    size_t n = 0;
    int r = 0;
    for (; r == 0 && n < plan->a_step && plan->moved + n < plan->n_moves; n++) {
        const struct remake_move *move = &plan->moves[plan->moved + n];
        sids[n] = plan->sids.sids[move->number];
        if (move->group != REMAKE_ALONE && plan->ids[move->group] == 0)
            r = give_id(plan, graph, plan->moved + n);
        to[n] = move->group == REMAKE_ALONE ? 0 : plan->ids[move->group];
    }
    if (r == 0)
        r = membership_clusters_of(graph->membership, sids, n, from);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (from[i] != to[i])
            r = cluster_moves_add(&moves, sids[i], from[i], to[i]);
    if (r == 0)
        r = cluster_intent_add_moves(&intent, &moves);
    if (r == 0 && intent.n_splits > 0)
        r = cluster_change_carry_out(graph, &intent);
    if (r == 0)
        plan->moved += n;
    return r;
}

/* Where documents went meanwhile one of them may be no cluster any more: then nothing is left that
 * an id could lead to, or from. */
static int join_one(const struct remake_plan *plan, const struct graph *graph,
                    const struct remake_join *join)
{
    _cleanup_(cluster_intent_done) struct cluster_intent intent = {
        .kind = INTENT_JOIN, .cluster = plan->ids[join->group]};
    uint64_t size = 0, to_size = 0;
    int r = membership_size(graph->membership, join->cluster, &size);
    if (r == 0)
        r = membership_size(graph->membership, intent.cluster, &to_size);
    if (r < 0 || size == 0 || to_size == 0)
        return r;
    r = sid_vector_push(&intent.ids, join->cluster);
    return r < 0 ? r : cluster_change_carry_out(graph, &intent);
}

int remake_plan_step(struct remake_plan *plan, const struct graph *graph)
{
    int r = 0;
    if (plan->moved < plan->n_moves)
        r = move_some(plan, graph);
    else if (plan->joined < plan->n_joins)
        r = join_one(plan, graph, &plan->joins[plan->joined++]);
    return r < 0 ? r : plan->moved < plan->n_moves || plan->joined < plan->n_joins;
}
