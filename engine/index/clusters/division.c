/* The nodes of the whole scope are sorted by component, order and sid, so a component is a stretch
 * of them, its first by order in front. Each is walked once: compared with the first, for how it
 * hangs together; and once more where it is loose, to be placed among the stars.
 *
 * Example: a component is a d b c by order, with resemblances of 1 0 .5 0 to a. Their mean, 0.375,
 * is below 0.4, so it is divided: a is a centre, d another one, b stands with a, and c, which
 * resembles d, with that.
 *
 * Cost: the record of each node, in a loose component twice, and what stars_place() takes. Left
 * out: keeping sketches from one walk to the next, as a component may have any number of nodes. */
#include "engine/index/clusters/division.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"

enum { NODES_AT_ONCE = 64 };

static int by_set_and_order(const void *a, const void *b)
{
    const struct division_node *x = a, *y = b;
    if (x->set != y->set)
        return x->set < y->set ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->sid > y->sid) - (x->sid < y->sid);
}

int division_begin(struct division *division, struct division_node *nodes, size_t n_nodes,
                   size_t places)
{
    *division = (struct division){.nodes = nodes, .n_nodes = n_nodes};
    division->centres = malloc((places + 1) * sizeof(*division->centres));
    if (!division->centres)
        return -ENOMEM;
    memset(division->centres, 0xff, places * sizeof(*division->centres));
    if (n_nodes)
        qsort(nodes, n_nodes, sizeof(*nodes), by_set_and_order);
    return 0;
}

void division_done(struct division *division)
{
    free(division->nodes);
    free(division->centres);
    free(division->whole);
    stars_free(division->stars);
    *division = (struct division){0};
}

/* The next component that may be loose. Returns whether there is one. */
static bool next_component(struct division *division)
{
    do {
        division->begin = division->end;
        while (division->end < division->n_nodes &&
               division->nodes[division->end].set == division->nodes[division->begin].set)
            division->end++;
    } while (division->end > division->begin &&
             division->end - division->begin < STARS_LOOSE_LEAST);
    division->at = division->begin;
    division->fact = (struct looseness_fact){0};
    return division->end > division->begin;
}

static int add_whole(struct division *division)
{
    if (!MAKE_ROOM(division->whole, division->whole_room, division->n_whole + 1))
        return -ENOMEM;
    const struct division_node *first = &division->nodes[division->begin];
    division->fact.first = first->sid;
    division->fact.order = first->order;
    division->whole[division->n_whole++] =
        (struct division_whole){.set = first->set, .fact = division->fact};
    return 0;
}

/* A component whose nodes have all been compared with the first stays whole, or begins to be
 * divided. */
static int judge(struct division *division, double threshold)
{
    const struct stars_options options = {.threshold = threshold, .n_keys = POSTINGS_TIER_R_KEYS};
    if (!stars_are_loose(&division->fact.looseness, threshold))
        return add_whole(division);
    division->at = division->begin;
    return stars_new(&options, &division->stars);
}

/* -- some nodes -- */

struct reading {
    const struct graph *graph;
    const struct division *division;
    const struct record *centre; /* the last that was read; NULL: none */
};

static void reading_done(struct reading *reading)
{
    if (reading->centre)
        records_return(reading->graph->records, &reading->centre, 1);
    reading->centre = NULL;
}

/* Returns -ENOENT where the centre is gone meanwhile. */
static int read_centre(void *user, uint32_t node, struct min_sketch *ret_sketch)
{
    struct reading *reading = user;
    const struct division *division = reading->division;
    reading_done(reading);
    int r = records_borrow(reading->graph->records, &division->nodes[division->begin + node].sid, 1,
                           &reading->centre);
    if (r == 0 && !reading->centre)
        r = -ENOENT;
    if (r == 0)
        *ret_sketch = reading->centre->sketch;
    return r;
}

static int place(struct division *division, struct reading *reading,
                 const struct min_sketch *sketch)
{
    const uint32_t node = (uint32_t)(division->at - division->begin);
    int r = stars_place(division->stars, sketch, read_centre, reading);
    if (r == 0)
        division->centres[division->nodes[division->at].place] =
            division->nodes[division->begin + stars_centre(division->stars, node)].place;
    return r;
}

/* A node that is gone meanwhile resembles nothing; where it is the first, the next one is. */
static int look_at(struct division *division, struct reading *reading,
                   const struct record *const *records, size_t n)
{
    const struct min_sketch none = {0};
    struct min_sketch first;
    int r = division->stars ? 0 : read_centre(reading, 0, &first);
    if (r == -ENOENT) {
        division->at = ++division->begin;
        division->fact = (struct looseness_fact){0};
        return 0;
    }
    for (size_t i = 0; r == 0 && i < n; i++, division->at++) {
        if (division->stars)
            r = place(division, reading, records[i] ? &records[i]->sketch : &none);
        else if (records[i])
            r = stars_add_node(&division->fact.looseness, &first, &records[i]->sketch);
    }
    return r;
}

static int some_nodes(struct division *division, const struct graph *graph)
{
    const struct record *records[NODES_AT_ONCE];
    uint64_t sids[NODES_AT_ONCE];
    _cleanup_(reading_done) struct reading reading = {.graph = graph, .division = division};
    const size_t left = division->end - division->at;
    const size_t n = left < NODES_AT_ONCE ? left : NODES_AT_ONCE;
    for (size_t i = 0; i < n; i++)
        sids[i] = division->nodes[division->at + i].sid;
    int r = records_borrow(graph->records, sids, n, records);
    if (r < 0)
        return r;
    r = look_at(division, &reading, records, n);
    records_return(graph->records, records, n);
    return r;
}

int division_step(struct division *division, const struct graph *graph)
{
    int r = 0;
    if (division->at == division->end && !next_component(division))
        return 0;
    r = some_nodes(division, graph);
    if (r < 0 || division->at < division->end || division->begin == division->end)
        return r < 0 ? r : 1;
    if (!division->stars) {
        r = judge(division, graph->threshold);
    } else {
        stars_free(division->stars);
        division->stars = NULL;
    }
    return r < 0 ? r : 1;
}
