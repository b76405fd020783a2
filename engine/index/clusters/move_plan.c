/* Groups that were found are held against clusters that are stored: votes give ids (id_votes.h),
 * and a document moves that is not where its group's id is. Moves are made group by group, so that
 * a group without an id gets one when its first document moves.
 *
 * Example: stored are 7 of a b c d and 9 of e f. Where {a b} and {c d e f} were found, 7 and 9 stay
 * with these, and c and d move. Where {a b c d e f} was found, 9 has no group of its own: it joins
 * 7, as a whole where it is small. Of a large one the last documents are left to the end, and move
 * together with the id: so the id leads somewhere at any time.
 *
 * Cost: a look at each row of the clustering, a sort of votes and of moves; to carry it out, two
 * writes for each 64 documents that move (cluster_change.h). */
#include "engine/index/clusters/move_plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/room.h"
#include "engine/cluster/large/parallel.h"
#include "engine/index/clusters/cluster_change.h"
#include "engine/index/members/cluster_sizes.h"
#include "engine/index/clusters/id_votes.h"
#include "engine/index/members/member.h"
#include "engine/index/tables/schema.h"
#include "engine/index/tables/table_walk.h"

void move_plan_done(struct move_plan *plan)
{
    number_vector_done(&plan->sids);
    free(plan->groups);
    free(plan->ids);
    free(plan->moves);
    free(plan->joins);
    *plan = (struct move_plan){0};
}

/* -- what is stored -- */

static int read_members(const struct move_plan *plan, struct kv *kv, unsigned number,
                        const bool *stop, uint64_t *clusters, uint32_t *ranks)
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
        r = row.key.size_bytes == SIZE_KEY_BYTES ? 0 : member_parse(&row.key, &member);
        size_t place = r < 0 || row.key.size_bytes == SIZE_KEY_BYTES
                           ? SIZE_MAX
                           : number_vector_place(&plan->sids, member.sid);
        if (place == SIZE_MAX)
            continue;
        clusters[place] = cluster;
        ranks[place] = rank++;
    }
    return r;
}

/* -- ids -- */

/* Clusters and ranks of documents, and sizes of groups, by number. */
struct stored {
    const uint64_t *clusters; /* 0: in none */
    const uint32_t *ranks;    /* among its members */
    uint32_t *sizes;          /* of groups, by their smallest number */
};

static bool is_alone(const struct move_plan *plan, const struct stored *stored, size_t number)
{
    return stored->sizes[plan->groups[number]] < 2;
}

/* Clusters that keep no id go where most of their documents do. */
static int add_joins(struct move_plan *plan, const struct id_vote *votes, size_t n_votes,
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
        plan->joins[plan->n_joins++] = (struct planned_join){cluster, votes[i].part, 0};
    }
    return 0;
}

static int decide_ids(struct move_plan *plan, const struct stored *stored, struct id_map *joins)
{
    const size_t n = plan->sids.n_numbers;
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
    const struct planned_move *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Some of a cluster that becomes part of another are left to the end, and moved with its id. */
static bool is_left(struct move_plan *plan, const struct id_map *joins, uint64_t cluster,
                    uint32_t group)
{
    const uint32_t place = id_map_find(joins, cluster);
    if (place == ID_MAP_NONE || plan->joins[place].group != group ||
        plan->joins[place].n_left == plan->a_step)
        return false;
    plan->joins[place].n_left++;
    return true;
}

static int add_moves(struct move_plan *plan, const struct stored *stored,
                     const struct id_map *joins)
{
    const size_t n = plan->sids.n_numbers;
    size_t capacity = 0;
    for (size_t i = 0; i < n; i++) {
        const bool alone = is_alone(plan, stored, i);
        const uint32_t group = alone ? MOVE_PLAN_ALONE : plan->groups[i];
        if (alone ? stored->clusters[i] == 0
                  : plan->ids[group] != 0 && stored->clusters[i] == plan->ids[group])
            continue;
        if (!alone && stored->clusters[i] && is_left(plan, joins, stored->clusters[i], group))
            continue;
        if (!MAKE_ROOM(plan->moves, capacity, plan->n_moves + 1))
            return -ENOMEM;
        plan->moves[plan->n_moves++] = (struct planned_move){(uint32_t)i, group};
    }
    if (plan->n_moves)
        qsort(plan->moves, plan->n_moves, sizeof(*plan->moves), by_group);
    return 0;
}

int move_plan_decide(struct move_plan *plan, const uint64_t *clusters, const uint32_t *ranks)
{
    const size_t n = plan->sids.n_numbers;
    _cleanup_free_ uint32_t *sizes = calloc(n + 1, sizeof(*sizes));
    const struct stored stored = {clusters, ranks, sizes};
    _cleanup_(id_map_done) struct id_map joins = {0};
    if (!sizes)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        sizes[plan->groups[i]]++;
    int r = decide_ids(plan, &stored, &joins);
    return r < 0 ? r : add_moves(plan, &stored, &joins);
}

int move_plan_make(struct move_plan *plan, struct kv *kv, unsigned number, const bool *stop)
{
    const size_t n = plan->sids.n_numbers;
    _cleanup_free_ uint64_t *clusters = calloc(n + 1, sizeof(*clusters));
    _cleanup_free_ uint32_t *ranks = calloc(n + 1, sizeof(*ranks));
    if (!clusters || !ranks)
        return -ENOMEM;
    int r = read_members(plan, kv, number, stop, clusters, ranks);
    return r < 0 ? r : move_plan_decide(plan, clusters, ranks);
}

/* -- carrying it out -- */

/* All documents of a group without an id are among the moves, and follow each other. */
static int give_id(struct move_plan *plan, const struct graph *graph, size_t move)
{
    _cleanup_(number_vector_done) struct number_vector sids = {0};
    const uint32_t group = plan->moves[move].group;
    int r = 0;
    for (; r == 0 && move < plan->n_moves && plan->moves[move].group == group; move++)
        r = number_vector_push(&sids, plan->sids.numbers[plan->moves[move].number]);
    return r < 0 ? r : cluster_new_id(graph, &sids, &plan->ids[group]);
}

/* A document that moves from a cluster (0: none) into another (0: none). */
struct moving {
    uint64_t sid, from, to;
};

static int by_clusters(const void *a, const void *b)
{
    const struct moving *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

/* Moves those that leave one cluster; where all have gone its id leads to where most of them did.
 */
static int move_from(const struct graph *graph, const struct moving *moving, size_t n)
{
    uint64_t best = 0, size = 0;
    size_t n_best = 0;
    int r = 0;
    for (size_t at = 0, end; r == 0 && at < n; at = end) {
        _cleanup_(number_vector_done) struct number_vector sids = {0};
        for (end = at; r == 0 && end < n && moving[end].to == moving[at].to; end++)
            r = number_vector_push(&sids, moving[end].sid);
        if (r == 0)
            r = cluster_move(graph, moving[at].from, moving[at].to, &sids);
        if (moving[at].to && end - at > n_best) {
            best = moving[at].to;
            n_best = end - at;
        }
    }
    if (r < 0 || moving[0].from == 0)
        return r;
    r = membership_known_size(graph->membership, moving[0].from, &size);
    return r < 0 || size > 0 ? r : cluster_emptied(graph, moving[0].from, best);
}

static int move_some(struct move_plan *plan, const struct graph *graph)
{
    uint64_t sids[MOVE_PLAN_STEP_MAX], from[MOVE_PLAN_STEP_MAX], to[MOVE_PLAN_STEP_MAX];
    struct moving moving[MOVE_PLAN_STEP_MAX];
    size_t n = 0, n_moving = 0;
    int r = 0;
    for (; r == 0 && n < plan->a_step && plan->moved + n < plan->n_moves; n++) {
        const struct planned_move *move = &plan->moves[plan->moved + n];
        sids[n] = plan->sids.numbers[move->number];
        if (move->group != MOVE_PLAN_ALONE && plan->ids[move->group] == 0)
            r = give_id(plan, graph, plan->moved + n);
        to[n] = move->group == MOVE_PLAN_ALONE ? 0 : plan->ids[move->group];
    }
    if (r == 0)
        r = membership_look_up(graph->membership, sids, n, from);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (from[i] != to[i])
            moving[n_moving++] = (struct moving){sids[i], from[i], to[i]};
    if (n_moving)
        qsort(moving, n_moving, sizeof(*moving), by_clusters);
    for (size_t at = 0, end; r == 0 && at < n_moving; at = end) {
        for (end = at + 1; end < n_moving && moving[end].from == moving[at].from;)
            end++;
        r = move_from(graph, moving + at, end - at);
    }
    if (r == 0)
        plan->moved += n;
    return r;
}

/* Documents may have gone meanwhile, so that one of them is no cluster any more: then nothing is
 * left that an id could lead to, or from. A cluster to which very many came stays: it is looked at
 * once more. */
static int join_one(const struct move_plan *plan, const struct graph *graph,
                    const struct planned_join *join)
{
    const uint64_t to = plan->ids[join->group];
    uint64_t size = 0, to_size = 0;
    int r = membership_size(graph->membership, join->cluster, &size);
    if (r == 0)
        r = membership_size(graph->membership, to, &to_size);
    const bool stays = size == 0 || to_size == 0 || size > join->n_left + plan->a_step;
    return r < 0 || stays ? r : cluster_merge(graph, join->cluster, to);
}

int move_plan_step(struct move_plan *plan, const struct graph *graph)
{
    int r = 0;
    if (plan->moved < plan->n_moves)
        r = move_some(plan, graph);
    else if (plan->joined < plan->n_joins)
        r = join_one(plan, graph, &plan->joins[plan->joined++]);
    return r < 0 ? r : plan->moved < plan->n_moves || plan->joined < plan->n_joins;
}
