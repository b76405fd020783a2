/* The clusters of a clustering made anew from records and postings, by brute force: whatever two
 * documents of one posting list are not connected yet are compared. What is stored must be the
 * same, as living_clusters.h says what that is. Of a list of tier R so long that it may have been
 * common (long_lists.h) pairs of two clusters may have been missed; and further keys, of tier C,
 * may have found others: so of both only pairs of one cluster are compared, which must hang
 * together by some pairs.
 */
#include <errno.h>
#include <string.h>

#include "base/counted.h"
#include "engine/cluster/union_find.h"
#include "engine/index/upkeep/check_nodes.h"
#include "engine/index/postings/long_lists.h"

/* Documents of one posting list that are connected, as numbers. */
struct group {
    struct sid_vector numbers;
};

struct components {
    struct check_nodes *nodes;
    struct union_find sets;
    bool within; /* compare pairs of one cluster only */
    struct group *groups;
    size_t n_groups, max_groups;
};

static void forget_groups(struct components *components)
{
    for (size_t i = 0; i < components->n_groups; i++)
        sid_vector_done(&components->groups[i].numbers);
    components->n_groups = 0;
}

static void components_done(struct components *components)
{
    forget_groups(components);
    free(components->groups);
    union_find_done(&components->sets);
}

static void join_classes(struct components *components)
{
    for (size_t i = 0; i < components->nodes->sids.n_sids; i++)
        union_find_join(&components->sets, components->nodes->firsts[i], (uint32_t)i);
}

/* -- posting lists -- */

static uint32_t root_of(struct components *components, uint64_t number)
{
    return union_find_root(&components->sets, (uint32_t)number);
}

static int connect(struct components *components, const struct group *group, uint64_t number)
{
    for (size_t i = 0; i < group->numbers.n_sids; i++) {
        if (root_of(components, group->numbers.sids[i]) == root_of(components, number))
            return 0;
        int r = check_nodes_joined(components->nodes, group->numbers.sids[i], number);
        if (r > 0)
            union_find_join(&components->sets, (uint32_t)group->numbers.sids[i], (uint32_t)number);
        if (r != 0)
            return r < 0 ? r : 0;
    }
    return 0;
}

static int add_group(struct components *components)
{
    if (components->n_groups == components->max_groups) {
        size_t wanted = components->max_groups ? 2 * components->max_groups : 16;
        struct group *larger = reallocarray(components->groups, wanted, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        components->groups = larger;
        components->max_groups = wanted;
    }
    components->groups[components->n_groups++] = (struct group){0};
    return 0;
}

/* Groups that the newcomer connected become one, which it is in. */
static int gather(struct components *components, uint64_t number)
{
    size_t n = 0, home = SIZE_MAX;
    int r = 0;
    for (size_t i = 0; i < components->n_groups; i++) {
        struct group group = components->groups[i];
        bool same = root_of(components, group.numbers.sids[0]) == root_of(components, number);
        if (same && home != SIZE_MAX) {
            for (size_t k = 0; r == 0 && k < group.numbers.n_sids; k++)
                r = sid_vector_push(&components->groups[home].numbers, group.numbers.sids[k]);
            sid_vector_done(&group.numbers);
            continue;
        }
        if (same)
            home = n;
        components->groups[n++] = group;
    }
    components->n_groups = n;
    if (r == 0 && home == SIZE_MAX) {
        r = add_group(components);
        home = n;
    }
    return r < 0 ? r : sid_vector_push(&components->groups[home].numbers, number);
}

static int join_all(struct components *components, const uint64_t *numbers, size_t n)
{
    int r = 0;
    forget_groups(components);
    for (size_t i = 0; r == 0 && i < n; i++) {
        for (size_t k = 0; r == 0 && k < components->n_groups; k++)
            r = connect(components, &components->groups[k], numbers[i]);
        if (r == 0)
            r = gather(components, numbers[i]);
    }
    return r;
}

static int compare_clusters(const void *left, const void *right, void *user)
{
    const uint64_t *clusters = user;
    uint64_t a = clusters[*(const uint64_t *)left], b = clusters[*(const uint64_t *)right];
    return (a > b) - (a < b);
}

/* Those of each cluster by themselves. */
static int join_within(struct components *components, uint64_t *numbers, size_t n)
{
    uint64_t *clusters = components->nodes->clusters;
    int r = 0;
    qsort_r(numbers, n, sizeof(*numbers), compare_clusters, clusters);
    for (size_t at = 0, end; r == 0 && at < n; at = end) {
        uint64_t cluster = clusters[numbers[at]];
        for (end = at + 1; end < n; end++)
            if (clusters[numbers[end]] != cluster)
                break;
        if (cluster)
            r = join_all(components, numbers + at, end - at);
    }
    return r;
}

static int join_list(void *user, uint64_t *numbers, size_t n, size_t length)
{
    struct components *components = user;
    return components->within || length > LONG_LISTS_COMMON_FROM
               ? join_within(components, numbers, n)
               : join_all(components, numbers, n);
}

static int join_tiers(struct components *components)
{
    int r = check_nodes_each_list(components->nodes, TABLE_TIER_R, join_list, components);
    components->within = true;
    return r < 0 ? r
                 : check_nodes_each_list(components->nodes, TABLE_TIER_C, join_list, components);
}

/* -- beside what is stored -- */

/* Of a component that is one cluster, its number is that of every document; and a cluster has one
 * component, of which the smallest number is the root. */
static int compare(struct components *components, uint32_t *sizes)
{
    struct check_nodes *nodes = components->nodes;
    const uint64_t *clusters = nodes->clusters;
    _cleanup_(sid_vector_done) struct sid_vector begun = {0}; /* clusters, of each component once */
    size_t n = nodes->sids.n_sids;
    int r = 0;
    for (size_t i = 0; i < n; i++)
        sizes[root_of(components, i)]++;
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint32_t root = root_of(components, i);
        if (check_is_underived(nodes->check, nodes->sids.sids[i]))
            continue;
        if (sizes[root] == 1 && clusters[i])
            r = check_nodes_found(nodes, i, "belongs to nobody");
        else if (sizes[root] > 1 && clusters[i] != clusters[root])
            r = check_nodes_found(nodes, i, "belongs to documents of another one");
        else if (sizes[root] > 1 && i == root && clusters[i] == 0)
            r = check_nodes_found(nodes, i, "belongs to others");
        else if (sizes[root] > 1 && i == root)
            r = sid_vector_push(&begun, clusters[i]);
    }
    if (r < 0)
        return r;
    size_t n_begun = begun.n_sids;
    sid_vector_sort_unique(&begun);
    if (begun.n_sids == n_begun)
        return 0;
    return check_found(nodes->check, CHECK_COMPONENTS, TABLE_CLUSTER_OF, NULL,
                       "documents of more than one component are in %s",
                       counted(n_begun - begun.n_sids, "cluster").text);
}

int check_components(struct check_nodes *nodes)
{
    _cleanup_(components_done) struct components components = {.nodes = nodes};
    int r = union_find_init(&components.sets, nodes->sids.n_sids);
    if (r < 0)
        return r;
    join_classes(&components);
    r = join_tiers(&components);
    if (r < 0 || !check_nodes_are_whole(nodes))
        return r;
    _cleanup_free_ uint32_t *sizes = calloc(nodes->sids.n_sids + 1, sizeof(*sizes));
    return sizes ? compare(&components, sizes) : -ENOMEM;
}
