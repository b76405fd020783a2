/* An insert adds one document to one component. Its neighbours tell which: a component they are in,
 * or one that it founds with those that are in none. Where they are in several, those are one from
 * now on: small ones are merged at once; of large ones it joins the largest, and all are marked
 * dirty, to be merged behind (recluster.h).
 *
 * A component that hangs together is a cluster, and one that is loose is divided into several. So
 * whether it is loose with the document is looked at (looseness.h): where it is, or was before, it
 * is dirty, and clustered anew, at once when it is small. Until then a document that came into a
 * divided component stands with its first neighbour.
 *
 * Example: a new version of a text that was split into two halves some time ago resembles both. The
 * clusters of the halves have 3 and 40 documents: the 3 move into the 40, and their id leads there.
 *
 * Cost: the candidates of the document (neighbours.h), one write to join; to merge, two for each 64
 * documents that move. Left out: looking for neighbours beyond the first in a component. */
#include "engine/index/clusters/cluster_insert.h"

#include "engine/index/clusters/cluster_change.h"
#include "engine/index/clusters/components.h"
#include "engine/index/clusters/looseness.h"
#include "engine/index/clusters/neighbours.h"
#include "engine/index/clusters/recluster.h"

/* Small clusters may have so many times what is clustered anew at once: moving is all it takes. */
enum { MERGED_TIMES = 4 };

/* Those a document belongs to: the components, each once, and documents that are in none, itself
 * first.
 *
 * Example: document 9 comes. Of its neighbours 4 is in cluster 12, 5 in cluster 13, which is a star
 * of the divided component 31:2 (number 2 of clustering 31), and 6 in none. So components are 12
 * and 31:2, star 13, loners 9 and 6. When a crash left 9 in 12 and it is inserted again, own is
 * 12. */
struct joining {
    const struct graph *graph;
    const struct coming *coming;
    struct number_vector components, loners;
    uint64_t star; /* of a divided component, that the first neighbour in one is in; 0: in none */
    uint64_t own;  /* one of the components: it is in that already; 0: in none */
};

static void joining_done(struct joining *joining)
{
    number_vector_done(&joining->components);
    number_vector_done(&joining->loners);
}

static int add(struct joining *joining, uint64_t sid, uint64_t component)
{
    if (component == 0)
        return number_vector_push(&joining->loners, sid);
    return number_vector_has(&joining->components, component)
               ? 0
               : number_vector_push(&joining->components, component);
}

/* -- what it belongs to -- */

/* A candidate is not wanted where its component is reached already. Nor is a document that is
 * replaced and in none: it has no id to keep, and would only found a cluster to leave it. */
static int wanted(void *user, const uint64_t *sids, size_t n, bool *ret_wanted)
{
    const struct joining *joining = user;
    uint64_t components[MEMBERS_AT_ONCE];
    int r = membership_look_up(joining->graph->membership, sids, n, components);
    if (r == 0)
        r = components_of(joining->graph, sids, components, n, components);
    for (size_t i = 0; r == 0 && i < n; i++)
        ret_wanted[i] = components[i] ? !number_vector_has(&joining->components, components[i])
                                      : sids[i] != joining->coming->replaced;
    return r;
}

static int found(void *user, uint64_t sid)
{
    struct joining *joining = user;
    const struct graph *graph = joining->graph;
    uint64_t cluster, component = 0;
    int r = membership_look_up(graph->membership, &sid, 1, &cluster);
    if (r == 0)
        r = components_of(graph, &sid, &cluster, 1, &component);
    if (r == 0 && !joining->star && cluster != component)
        joining->star = cluster;
    return r < 0 ? r : add(joining, sid, component);
}

/* Lists that have become long with the document are marked: other documents than before are
 * candidates by them. */
static int note_grown(const struct graph *graph, const struct number_vector *grown)
{
    int r = grown->n_numbers ? dirty_mark_lists(graph->dirty, grown->numbers, grown->n_numbers) : 0;
    for (size_t i = 0; r == 0 && i < grown->n_numbers; i++)
        r = long_lists_set(graph->long_lists, grown->numbers[i], true);
    return r;
}

static int find_neighbours(struct joining *joining)
{
    _cleanup_(number_vector_done) struct number_vector candidates = {0}, grown = {0};
    const struct graph *graph = joining->graph;
    const struct min_sketch *sketch = &joining->coming->record->sketch;
    int r = neighbours_candidates(graph, joining->coming->sid, sketch, &candidates, &grown);
    if (r == 0)
        r = note_grown(graph, &grown);
    return r < 0 ? r : neighbours_compare(graph, sketch, &candidates, wanted, found, joining);
}

/* -- joining -- */

/* The component that keeps its id: most documents, then the smallest id. */
static int choose(const struct joining *joining, uint64_t *ret_id, uint64_t *ret_others)
{
    uint64_t best = 0, best_size = 0, sum = 0;

    for (size_t i = 0; i < joining->components.n_numbers; i++) {
        uint64_t id = joining->components.numbers[i], size = 0;
        int r = component_size(joining->graph, id, &size);
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

/* The document was inserted before a crash, or a failure, and belongs to nothing else: whether its
 * component is loose was looked at, and the component marked, before it came there. */
static bool is_there(const struct joining *joining)
{
    return joining->own && joining->components.n_numbers == 1 && joining->loners.n_numbers == 1;
}

static bool is_dirty(const struct joining *joining)
{
    bool any = false;
    for (size_t i = 0; i < joining->components.n_numbers; i++)
        any |= dirty_has(joining->graph->dirty, joining->components.numbers[i]);
    return any;
}

/* The document enters a component, and with it those of its neighbours that are in none. */
static int enter(const struct joining *joining, uint64_t id)
{
    const struct coming *coming = joining->coming;
    const struct graph *graph = graph_of_cluster(joining->graph, id);
    struct member member;
    if (joining->loners.n_numbers > 1)
        return cluster_move(graph, 0, id, &joining->loners);
    member_init(&member, coming->sid, coming->record);
    return membership_insert(graph->membership, id, &member);
}

/* -- into components that hang together -- */

/* Clusters that are marked dirty become one. */
static int merge(const struct joining *joining, uint64_t to)
{
    const struct graph *graph = joining->graph;
    int r = 0;
    for (size_t i = 0; r == 0 && i < joining->components.n_numbers; i++)
        if (joining->components.numbers[i] != to)
            r = cluster_merge(graph, joining->components.numbers[i], to);
    for (size_t i = 0; r == 0 && i < joining->components.n_numbers; i++)
        if (joining->components.numbers[i] != to)
            r = dirty_clear(graph->dirty, &joining->components.numbers[i], 1, UINT64_MAX);
    return r;
}

/* Returns 1 where nothing has to be divided, as far as is looked at, 0 where the cluster is loose,
 * or an error. A dirty one is looked at when it is clustered anew. */
static int needs_no_division(const struct joining *joining, uint64_t id, bool was_dirty)
{
    const struct coming *coming = joining->coming;
    const bool is_one = joining->loners.n_numbers == 1 && !joining->own;
    if (!joining->graph->divided || was_dirty || is_there(joining))
        return 1;
    return looseness_is_tight(joining->graph, id, &joining->components, &joining->loners,
                              is_one ? coming->record : NULL,
                              coming->first == coming->sid && coming->record->sketch.n_values);
}

/* The document enters one component, a new one, or several that become one at once. A component
 * that is loose with it is dirty, and clustered anew, at once when it is small. One that hangs
 * together is dirty only while it is made of several, unless one of these was before. */
static int join_now(const struct joining *joining, uint64_t id)
{
    const struct graph *graph = joining->graph;
    const struct number_vector *components = &joining->components;
    const bool was_dirty = is_dirty(joining);
    const int whole = needs_no_division(joining, id, was_dirty);
    int r = whole < 0 ? whole : 0;
    if (r == 0 && (components->n_numbers > 1 || !whole))
        r = dirty_mark(graph->dirty, components->numbers, components->n_numbers);
    if (r == 0 && components->n_numbers > 1)
        r = merge(joining, id);
    if (r == 0)
        r = enter(joining, id);
    if (r < 0 || !whole)
        return r < 0 ? r : recluster_together(graph, &id, 1);
    return was_dirty || components->n_numbers == 1 ? 0
                                                   : dirty_clear(graph->dirty, &id, 1, UINT64_MAX);
}

/* Very many documents would move: all components are marked dirty, and the document is in one of
 * them until they are one. */
static int join_later(const struct joining *joining, uint64_t id)
{
    const struct number_vector *components = &joining->components;
    int r = dirty_mark(joining->graph->dirty, components->numbers, components->n_numbers);
    return r < 0 ? r : enter(joining, joining->own ? joining->own : id);
}

/* -- into a divided component -- */

/* In a divided component the document stands with its first neighbour until that is divided anew.
 */
static int enter_star(const struct joining *joining, uint64_t id)
{
    const struct coming *coming = joining->coming;
    const struct graph *graph = joining->graph;
    struct member member;
    uint64_t cluster = 0;
    if (!component_is_divided(id))
        return 0;
    int r = membership_look_up(graph->membership, &coming->sid, 1, &cluster);
    if (!cluster && joining->components.n_numbers == 1)
        cluster = joining->star;
    member_init(&member, coming->sid, coming->record);
    return r < 0 || !cluster ? r : membership_insert(graph->membership, cluster, &member);
}

/* The stars of a component depend on its nodes, so another document of a class changes none; but a
 * class that was a star by itself becomes a cluster. */
static int join_divided(const struct joining *joining, uint64_t id)
{
    const struct graph *graph = joining->graph;
    const struct number_vector *components = &joining->components;
    const bool adds_node = joining->coming->first == joining->coming->sid;
    const bool was_dirty = is_dirty(joining);
    int r = is_there(joining)
                ? 0
                : dirty_mark(graph->dirty, components->numbers, components->n_numbers);
    if (r == 0)
        r = enter(joining, id);
    if (r == 0)
        r = enter_star(joining, id);
    if (is_there(joining))
        return r;
    if (r < 0 || adds_node || !joining->star)
        return r < 0 || was_dirty
                   ? r
                   : recluster_together(graph, components->numbers, components->n_numbers);
    return was_dirty ? 0 : dirty_clear(graph->dirty, &id, 1, UINT64_MAX);
}

/* -- */

static bool any_divided(const struct joining *joining)
{
    bool any = false;
    for (size_t i = 0; i < joining->components.n_numbers; i++)
        any |= component_is_divided(joining->components.numbers[i]);
    return any;
}

static int join(struct joining *joining)
{
    const struct graph *graph = joining->graph;
    const bool founds = joining->components.n_numbers == 0;
    uint64_t id = 0, n_others = 0;

    if (founds && joining->loners.n_numbers < 2)
        return 0;
    int r = founds ? cluster_new_id(graph, &joining->loners, &id) : choose(joining, &id, &n_others);
    if (r < 0)
        return r;
    if (any_divided(joining))
        return join_divided(joining, joining->own ? joining->own : id);
    return n_others <= MERGED_TIMES * graph->bounds.at_once ? join_now(joining, id)
                                                            : join_later(joining, id);
}

int cluster_insert(const struct graph *graph, const struct coming *coming)
{
    _cleanup_(joining_done) struct joining joining = {.graph = graph, .coming = coming};
    uint64_t of_replaced = 0, cluster = 0, component = 0;
    int r = number_vector_push(&joining.loners, coming->sid);

    if (r == 0 && coming->replaced)
        r = membership_look_up(graph->membership, &coming->replaced, 1, &of_replaced);
    if (r == 0 && coming->replaced && of_replaced == 0)
        dissolved_clusters_replace(&graph->membership->dissolved, coming->replaced, coming->sid);
    if (r == 0 && coming->may_be_in)
        r = membership_look_up(graph->membership, &coming->sid, 1, &cluster);
    if (r == 0 && coming->may_be_in)
        r = components_of(graph, &coming->sid, &cluster, 1, &component);
    if (r == 0 && component)
        r = add(&joining, coming->sid, joining.own = component);
    if (r == 0 && coming->first == coming->sid) {
        r = find_neighbours(&joining);
    } else if (r == 0) {
        bool is_wanted;
        r = wanted(&joining, &coming->first, 1, &is_wanted);
        if (r == 0 && is_wanted)
            r = found(&joining, coming->first);
    }
    return r < 0 ? r : join(&joining);
}

int cluster_insert_in_place(const struct graph *graph, const struct coming *coming)
{
    _cleanup_(joining_done) struct joining joining = {.graph = graph, .coming = coming};
    const uint64_t sids[2] = {coming->replaced, coming->sid};
    uint64_t clusters[2];

    if (coming->replaced == 0)
        return 0;
    int r = membership_look_up(graph->membership, sids, 2, clusters);
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
    return r < 0 ? r : join(&joining);
}
