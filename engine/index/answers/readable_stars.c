#include "engine/index/answers/readable_stars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/stars.h"

/* A class, by its oldest member. */
struct node {
    uint64_t order, sid;
    const struct record *record;
};

struct nodes {
    struct node nodes[READABLE_CLUSTER_MAX]; /* by order and sid */
    uint32_t n;
};

static bool is_same_class(const struct record *a, const struct record *b)
{
    uint8_t class_a[CLASS_BYTES], class_b[CLASS_BYTES];
    record_class(a, class_a);
    record_class(b, class_b);
    return memcmp(class_a, class_b, CLASS_BYTES) == 0;
}

static uint32_t find_node(const struct nodes *nodes, const struct record *record)
{
    uint32_t i = 0;
    while (i < nodes->n && !is_same_class(nodes->nodes[i].record, record))
        i++;
    return i;
}

static int by_order(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

static void take_nodes(const struct readable_cluster *component, struct nodes *nodes)
{
    nodes->n = 0;
    for (size_t i = 0; i < component->n_members; i++) {
        const struct readable_member *member = &component->members[i];
        const uint32_t at = find_node(nodes, member->record);
        if (member->record->sketch.n_values == 0)
            continue;
        if (at == nodes->n)
            nodes->nodes[nodes->n++] = (struct node){.order = stars_order(&member->record->sketch),
                                                     .sid = member->sid,
                                                     .record = member->record};
        else if (member->sid < nodes->nodes[at].sid)
            nodes->nodes[at].sid = member->sid;
    }
    qsort(nodes->nodes, nodes->n, sizeof(nodes->nodes[0]), by_order);
}

/* Returns 1, 0 or an error. */
static int are_loose(const struct nodes *nodes, double threshold)
{
    struct stars_looseness looseness = {0};
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < nodes->n; i++)
        r = stars_add_node(&looseness, &nodes->nodes[0].record->sketch,
                           &nodes->nodes[i].record->sketch);
    return r < 0 ? r : stars_are_loose(&looseness, threshold);
}

static int read_node(void *user, uint32_t node, struct min_sketch *ret_sketch)
{
    const struct nodes *nodes = user;
    *ret_sketch = nodes->nodes[node].record->sketch;
    return 0;
}

static int divide(struct readable_cluster *component, struct nodes *nodes, double threshold)
{
    const struct stars_options options = {.threshold = threshold, .n_keys = POSTINGS_TIER_R_KEYS};
    struct stars *stars;
    int r = stars_new(&options, &stars);
    if (r < 0)
        return r;
    for (uint32_t i = 0; r == 0 && i < nodes->n; i++)
        r = stars_place(stars, &nodes->nodes[i].record->sketch, read_node, nodes);
    for (size_t i = 0; r == 0 && i < component->n_members; i++)
        component->members[i].star =
            stars_centre(stars, find_node(nodes, component->members[i].record));
    stars_free(stars);
    return r;
}

int readable_stars_find(struct readable_cluster *component, double threshold)
{
    _cleanup_free_ struct nodes *nodes = NULL;
    if (component->n_members < STARS_LOOSE_LEAST)
        return 0;
    nodes = malloc(sizeof(*nodes));
    if (!nodes)
        return -ENOMEM;
    take_nodes(component, nodes);
    int r = nodes->n < STARS_LOOSE_LEAST ? 0 : are_loose(nodes, threshold);
    return r > 0 ? divide(component, nodes, threshold) : r;
}
