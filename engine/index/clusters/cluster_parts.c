/* Breadth first from every neighbour of the missing nodes in turn, one node at a time. Searches
 * that meet are joined; a search with nothing left to expand has found a whole part. It ends when
 * at most one search still has something to do: either all have met, mostly after the first query,
 * since neighbours of one document mostly resemble each other, or the last one is the rest, and
 * need not be walked. So the cost follows the smaller parts.
 *
 * Beginnings that resemble each other are joined before anything is read: each is compared with
 * some of those before it. In a large cluster a document may have hundreds of neighbours, and a
 * query there reads lists of thousands.
 *
 * Left out: a stored spanning forest (Henzinger and King 1999, Holm et al. 2001), which would bound
 * the cost by the logarithm squared. Most clusters have two or three documents; the forest would be
 * written at every insert for the sake of a rare delete in a large cluster.
 */
#include "engine/index/clusters/cluster_parts.h"

#include <errno.h>
#include <string.h>

#include "engine/index/tables/classes.h"

static const uint32_t NONE = UINT32_MAX;

enum { FIRSTS = 16 /* beginnings with which later ones are compared */ };

struct node {
    uint64_t sid;
    uint32_t parent;                 /* towards the root of its search */
    uint32_t next;                   /* in its search's queue */
    uint32_t queue_head, queue_tail; /* of a root: nodes still to expand */
    uint8_t class_id[CLASS_BYTES];
};

struct cluster_parts {
    const struct graph *graph;
    const struct sid_vector *without;
    const uint64_t *in_clusters;
    size_t n_in_clusters;

    struct node *nodes;
    uint32_t n_nodes, capacity;
    uint32_t *slots; /* open addressing, NONE or a node; twice the capacity */
    uint32_t n_beginnings;
    uint32_t expanding;

    struct min_sketch first_sketches[FIRSTS]; /* of beginnings that resembled none of these */
    uint32_t firsts[FIRSTS], n_firsts;

    uint32_t *roots; /* of the parts, when the search has ended */
    uint32_t n_parts;
};

int cluster_parts_new(const struct graph *graph, const struct sid_vector *without,
                      const uint64_t *in_clusters, size_t n_in_clusters,
                      struct cluster_parts **ret_parts)
{
    struct cluster_parts *parts = calloc(1, sizeof(*parts));
    if (!parts)
        return -ENOMEM;
    parts->graph = graph;
    parts->without = without;
    parts->in_clusters = in_clusters;
    parts->n_in_clusters = n_in_clusters;
    *ret_parts = parts;
    return 0;
}

void cluster_parts_free(struct cluster_parts *parts)
{
    if (!parts)
        return;
    for (uint32_t i = 0; i < parts->n_firsts; i++)
        min_sketch_done(&parts->first_sketches[i]);
    free(parts->nodes);
    free(parts->slots);
    free(parts->roots);
    free(parts);
}

/* -- nodes -- */

static uint32_t *slot_of(const struct cluster_parts *parts, uint64_t sid)
{
    uint32_t n_slots = 2 * parts->capacity; /* a power of two */
    uint32_t i = (uint32_t)((sid * 0x9e3779b97f4a7c15u) >> 32) & (n_slots - 1);

    while (parts->slots[i] != NONE && parts->nodes[parts->slots[i]].sid != sid)
        i = (i + 1) & (n_slots - 1);
    return &parts->slots[i];
}

static uint32_t find(const struct cluster_parts *parts, uint64_t sid)
{
    return parts->capacity ? *slot_of(parts, sid) : NONE;
}

static int grow(struct cluster_parts *parts)
{
    uint32_t capacity = parts->capacity ? 2 * parts->capacity : 64;
    if (capacity > UINT32_MAX / 4)
        return -ENOMEM;
    struct node *nodes = reallocarray(parts->nodes, capacity, sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    parts->nodes = nodes;
    uint32_t *slots = reallocarray(parts->slots, 2 * (size_t)capacity, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    parts->slots = slots;
    parts->capacity = capacity;
    memset(slots, 0xff, 2 * (size_t)capacity * sizeof(*slots));
    for (uint32_t i = 0; i < parts->n_nodes; i++)
        *slot_of(parts, nodes[i].sid) = i;
    return 0;
}

/* A node in a search of its own. */
static int add(struct cluster_parts *parts, uint64_t sid, const struct record *record)
{
    if (parts->n_nodes == parts->capacity) {
        int r = grow(parts);
        if (r < 0)
            return r;
    }
    uint32_t i = parts->n_nodes++;
    parts->nodes[i] =
        (struct node){.sid = sid, .parent = i, .next = NONE, .queue_head = i, .queue_tail = i};
    record_class(record, parts->nodes[i].class_id);
    *slot_of(parts, sid) = i;
    return 0;
}

static uint32_t root_of(const struct cluster_parts *parts, uint32_t i)
{
    while (parts->nodes[i].parent != i) {
        struct node *node = &parts->nodes[i];
        node->parent = parts->nodes[node->parent].parent;
        i = node->parent;
    }
    return i;
}

static void join(struct cluster_parts *parts, uint32_t a, uint32_t b)
{
    a = root_of(parts, a);
    b = root_of(parts, b);
    if (a == b)
        return;
    /* Beginnings come first and stay roots. */
    struct node *root = &parts->nodes[a < b ? a : b], *other = &parts->nodes[a < b ? b : a];
    other->parent = a < b ? a : b;
    if (other->queue_head == NONE)
        return;
    if (root->queue_head == NONE)
        root->queue_head = other->queue_head;
    else
        parts->nodes[root->queue_tail].next = other->queue_head;
    root->queue_tail = other->queue_tail;
}

/* The last node, with all that it resembles. */
static int join_firsts(struct cluster_parts *parts, const struct record *record)
{
    const uint32_t last = parts->n_nodes - 1;
    bool alone = true;

    for (uint32_t i = 0; i < parts->n_firsts; i++) {
        int r = neighbours_by_tier_r(parts->graph, &parts->first_sketches[i], &record->sketch);
        if (r < 0)
            return r;
        if (r > 0)
            join(parts, parts->firsts[i], last);
        alone = alone && r == 0;
    }
    if (!alone || parts->n_firsts == FIRSTS)
        return 0;
    int r = min_sketch_copy(&record->sketch, &parts->first_sketches[parts->n_firsts]);
    if (r == 0)
        parts->firsts[parts->n_firsts++] = last;
    return r;
}

int cluster_parts_begin_from(struct cluster_parts *parts, uint64_t sid, const struct record *record)
{
    if (find(parts, sid) != NONE)
        return 0;
    int r = add(parts, sid, record);
    if (r == 0)
        r = join_firsts(parts, record);
    parts->n_beginnings = parts->n_nodes;
    return r;
}

bool cluster_parts_has(const struct cluster_parts *parts, uint64_t sid)
{
    return find(parts, sid) != NONE;
}

/* -- the search -- */

static bool wanted(void *user, uint64_t sid, uint64_t cluster)
{
    const struct cluster_parts *parts = user;

    if (sid_vector_finds(parts->without, sid))
        return false;
    uint32_t i = find(parts, sid);
    if (i != NONE)
        return root_of(parts, i) != root_of(parts, parts->expanding);
    for (size_t k = 0; k < parts->n_in_clusters; k++)
        if (parts->in_clusters[k] == cluster)
            return true;
    return false;
}

static int found(void *user, uint64_t sid, uint64_t cluster, const struct record *record)
{
    struct cluster_parts *parts = user;
    (void)cluster;

    if (find(parts, sid) == NONE) {
        int r = add(parts, sid, record);
        if (r < 0)
            return r;
    }
    join(parts, find(parts, sid), parts->expanding);
    return 0;
}

static int expand(struct cluster_parts *parts, uint32_t root)
{
    _cleanup_(record_done) struct record record = {0};
    uint32_t i = parts->nodes[root].queue_head;

    parts->nodes[root].queue_head = parts->nodes[i].next;
    parts->expanding = i;
    int r = graph_record(parts->graph, parts->nodes[i].sid, &record);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return neighbours_find(parts->graph, &record.sketch, wanted, found, parts, NULL);
}

int cluster_parts_widen(struct cluster_parts *parts)
{
    return expand(parts, 0);
}

/* Roots of the searches, and how many of them have something to expand. */
static uint32_t list_parts(struct cluster_parts *parts)
{
    uint32_t n_open = 0;

    parts->n_parts = 0;
    for (uint32_t i = 0; i < parts->n_beginnings; i++) {
        if (parts->nodes[i].parent != i)
            continue;
        parts->roots[parts->n_parts++] = i;
        n_open += parts->nodes[i].queue_head != NONE;
    }
    return n_open;
}

static bool ended(struct cluster_parts *parts, bool all)
{
    uint32_t n_open = list_parts(parts);

    return n_open == 0 || (!all && (n_open == 1 || parts->n_parts == 1));
}

int cluster_parts_search(struct cluster_parts *parts, bool all, size_t most)
{
    free(parts->roots);
    parts->roots = calloc(parts->n_beginnings + 1, sizeof(*parts->roots));
    if (!parts->roots)
        return -ENOMEM;
    for (uint32_t i = 0; !ended(parts, all); i = (i + 1) % parts->n_beginnings) {
        while (parts->nodes[i].parent != i || parts->nodes[i].queue_head == NONE)
            i = (i + 1) % parts->n_beginnings;
        if (most-- == 0)
            return -E2BIG;
        int r = expand(parts, i);
        if (r < 0)
            return r;
    }
    return (int)parts->n_parts;
}

bool cluster_parts_exhausted(const struct cluster_parts *parts, size_t part)
{
    return parts->nodes[parts->roots[part]].queue_head == NONE;
}

uint64_t cluster_parts_beginning(const struct cluster_parts *parts, size_t part)
{
    return parts->nodes[parts->roots[part]].sid;
}

int cluster_parts_documents(const struct cluster_parts *parts, size_t part, struct sid_vector *sids)
{
    for (uint32_t i = 0; i < parts->n_nodes; i++) {
        if (root_of(parts, i) != parts->roots[part])
            continue;
        int r = classes_list(parts->graph->kv, parts->nodes[i].class_id, 0, sids);
        if (r < 0)
            return r;
    }
    return 0;
}
