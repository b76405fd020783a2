/* All components of a batch are looked at side by side, each by one thread: is it loose, and what
 * are its stars (stars.h)?
 *
 * Documents of equal shingles stand with the first of them; which that was is forgotten in the
 * component, and found again by the sketch.
 *
 * Example: the documents 3 7 8 9 20 are a component with the root 3, and 8 has the shingles of 7.
 * Its four nodes are as many as a loose one has, so their sketches are read. It is loose, the
 * centres are 7 and 20, 9 stands with 7 and 3 with 20. Then 8 is found to be of node 7, and the
 * component becomes the sets 7 8 9 and 3 20, with the roots 7 and 3.
 *
 * Cost: loose.h has it. Left out: several threads for one component. A node stands with a centre
 * that was placed before it, so they come one after the other.
 */
#include "engine/cluster/loose.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "engine/cluster/pairs/equivalence.h"
#include "engine/cluster/stars.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"

enum { DEALT_AT_ONCE = 4096 };

struct loose_run {
    const struct loose_dividing *dividing;
    uint32_t *next;    /* the documents of a component from its root on, ascending; 0 ends */
    uint64_t *several; /* a bit a root: so many nodes at least that it may be divided; in the end,
                          that it is loose */
    uint32_t dealt;
    pthread_mutex_t lock; /* of counts */
    struct loose_counts counts;
};

struct node {
    uint64_t size; /* center: shingles; else 0 */
    uint64_t order;
    uint32_t document;
    uint32_t n_documents, first; /* of a centre's star: its documents, and the first of them */
    struct min_sketch sketch;    /* n_values 0: not in the room */
};

/* The state of one thread. */
struct divider {
    struct loose_run *run;
    uint8_t *room; /* for sketches of one component */
    size_t n_room;
    uint8_t *spare[2]; /* for a sketch that has no room there */
    struct node *nodes;
    size_t n_nodes, most_nodes;
    struct loose_counts counts;
};

/* -- sketches -- */

static int read_sketch(struct divider *divider, struct node *node, unsigned spare,
                       struct min_sketch *ret_sketch)
{
    const struct sketch_file *file = divider->run->dividing->sketches;
    if (node->sketch.n_values) {
        *ret_sketch = node->sketch;
        return 0;
    }
    size_t size =
        sketch_file_in_memory(file, node->document) ? 0 : sketch_file_bytes(file, node->document);
    const bool has_room = divider->run->dividing->sketch_bytes - divider->n_room >= size;
    void *at = has_room ? divider->room + divider->n_room : divider->spare[spare];
    int r = sketch_file_read(file, node->document, at, ret_sketch);
    if (r == 0 && has_room) {
        node->sketch = *ret_sketch;
        divider->n_room += size;
    }
    return r;
}

/* -- whether a component is loose -- */

static int compare_nodes(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static int take_node(struct divider *divider, uint32_t document)
{
    if (!MAKE_ROOM(divider->nodes, divider->most_nodes, divider->n_nodes + 1))
        return -ENOMEM;
    sketch_file_ask_for(divider->run->dividing->sketches, document);
    divider->nodes[divider->n_nodes++] = (struct node){.document = document};
    return 0;
}

static void set_order(const struct divider *divider, struct node *node,
                      const struct min_sketch *sketch)
{
    node->order = stars_order(sketch);
    if (divider->run->dividing->center)
        node->size = (uint64_t)min_sketch_cardinality(sketch);
}

static int read_order(struct divider *divider, struct node *node)
{
    struct min_sketch sketch;
    int r = read_sketch(divider, node, 0, &sketch);
    if (r == 0)
        set_order(divider, node, &sketch);
    return r;
}

static int take_nodes(struct divider *divider, uint32_t root)
{
    const struct loose_run *run = divider->run;
    uint32_t document = root;
    int r = 0;
    divider->n_nodes = divider->n_room = 0;
    do {
        if (mark_is_set(run->dividing->nodes, document))
            r = take_node(divider, document);
        document = run->next[document];
    } while (r == 0 && document);
    for (size_t i = 0; r == 0 && i < divider->n_nodes; i++)
        r = read_order(divider, &divider->nodes[i]);
    if (r == 0)
        qsort(divider->nodes, divider->n_nodes, sizeof(*divider->nodes), compare_nodes);
    return r;
}

/* Returns 1, 0 or an error. The nodes are in their order. */
static int is_loose(struct divider *divider)
{
    struct stars_looseness looseness = {0};
    struct min_sketch first, node;
    int r = read_sketch(divider, &divider->nodes[0], 0, &first);
    for (size_t i = 0; r == 0 && i < divider->n_nodes; i++) {
        r = read_sketch(divider, &divider->nodes[i], 1, &node);
        if (r == 0)
            r = stars_add_node(&looseness, &first, &node);
    }
    return r < 0 ? r : stars_are_loose(&looseness, divider->run->dividing->threshold);
}

/* -- stars -- */

static int read_centre(void *user, uint32_t node, struct min_sketch *ret_sketch)
{
    struct divider *divider = user;
    return read_sketch(divider, &divider->nodes[node], 1, ret_sketch);
}

static int make_stars(struct divider *divider, struct stars **ret_stars)
{
    const struct loose_dividing *dividing = divider->run->dividing;
    const struct stars_options options = {
        .threshold = dividing->threshold, .n_keys = dividing->n_keys, .first = dividing->center};
    struct stars *stars;
    int r = stars_new(&options, &stars);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && i < divider->n_nodes; i++) {
        struct min_sketch sketch;
        r = read_sketch(divider, &divider->nodes[i], 0, &sketch);
        if (r == 0)
            r = stars_place(stars, &sketch, read_centre, divider);
    }
    if (r == 0)
        *ret_stars = stars;
    else
        stars_free(stars);
    return r;
}

static bool is_before(const struct node *a, const struct node *b)
{
    return a->size != b->size ? a->size > b->size : a->order < b->order;
}

/* The node of a document's shingles. */
static int find_node(struct divider *divider, uint32_t document, size_t *ret_place)
{
    struct node own = {.document = document};
    struct min_sketch sketch, other;
    size_t low = 0, high = divider->n_nodes;
    int r = read_sketch(divider, &own, 0, &sketch);
    if (r < 0)
        return r;
    set_order(divider, &own, &sketch);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&divider->nodes[middle], &own))
            low = middle + 1;
        else
            high = middle;
    }
    for (; r == 0 && low < divider->n_nodes && !is_before(&own, &divider->nodes[low]); low++) {
        r = read_sketch(divider, &divider->nodes[low], 1, &other);
        if (r == 0 && other.n_values == sketch.n_values && other.below == sketch.below &&
            memcmp(other.values, sketch.values, sketch.n_values * sizeof(*sketch.values)) == 0) {
            *ret_place = low;
            return 0;
        }
    }
    return r < 0 ? r : -EUCLEAN;
}

/* Each document joins the star of its node. Documents come in ascending order, so the first of a
 * star is the root of its set. */
static int put_stars(struct divider *divider, const struct stars *stars, uint32_t root)
{
    struct loose_run *run = divider->run;
    uint32_t *parent = run->dividing->sets->parent, document = root;
    int r = 0;
    do {
        size_t place = 0;
        r = find_node(divider, document, &place);
        if (r < 0)
            return r;
        struct node *centre = &divider->nodes[stars_centre(stars, (uint32_t)place)];
        if (centre->n_documents++ == 0)
            centre->first = document;
        parent[document] = centre->first;
        divider->counts.n_documents++;
        document = run->next[document];
    } while (document);
    for (size_t i = 0; i < divider->n_nodes; i++)
        divider->counts.n_alone += divider->nodes[i].n_documents == 1;
    return 0;
}

static int divide(struct divider *divider, uint32_t root)
{
    struct stars *stars = NULL;
    int r = make_stars(divider, &stars);
    if (r == 0)
        r = put_stars(divider, stars, root);
    stars_free(stars);
    divider->counts.n_components += r == 0;
    return r;
}

/* -- all components -- */

/* Marks the roots of components with so many nodes: two planes of bits count to three. */
static int count_nodes(struct loose_run *run)
{
    const struct loose_dividing *dividing = run->dividing;
    const uint32_t least = dividing->center ? CENTER_LEAST_NODES : STARS_LOOSE_LEAST;
    const size_t n = dividing->sets->n, n_words = n / 64 + 1;
    uint64_t *ones = calloc(n_words, sizeof(*ones)), *twos = calloc(n_words, sizeof(*twos));
    run->several = calloc(n_words, sizeof(*run->several));
    const bool is_there = ones && twos && run->several;
    for (uint32_t i = 0; is_there && i < n; i++) {
        if (!mark_is_set(dividing->nodes, i))
            continue;
        const uint32_t root = union_find_root(dividing->sets, i);
        const uint64_t bit = (uint64_t)1 << (root % 64);
        const bool was_odd = ones[root / 64] & bit, was_two = twos[root / 64] & bit;
        const uint32_t n_before = was_odd + 2 * was_two;
        ones[root / 64] ^= bit;
        twos[root / 64] ^= was_odd ? bit : 0;
        run->several[root / 64] |= n_before + 1 == least ? bit : 0;
    }
    free(ones);
    free(twos);
    return is_there ? 0 : -ENOMEM;
}

static int list_documents(struct loose_run *run)
{
    struct union_find *sets = run->dividing->sets;
    run->next = large_array_new(sets->n * sizeof(*run->next));
    if (!run->next)
        return -ENOMEM;
    for (uint32_t i = (uint32_t)sets->n; i-- > 0;) {
        const uint32_t root = union_find_root(sets, i);
        if (root == i || !mark_is_set(run->several, root))
            continue;
        run->next[i] = run->next[root];
        run->next[root] = i;
    }
    return 0;
}

static int divider_init(struct loose_run *run, struct divider *ret_divider)
{
    const struct loose_dividing *dividing = run->dividing;
    const size_t spare_bytes = sketch_file_longest_bytes(dividing->sketches);
    *ret_divider = (struct divider){
        .run = run,
        .room = large_array_new(dividing->sketch_bytes),
        .spare = {large_array_new(spare_bytes), large_array_new(spare_bytes)},
    };
    return ret_divider->room && ret_divider->spare[0] && ret_divider->spare[1] ? 0 : -ENOMEM;
}

static void divider_done(struct divider *divider)
{
    const struct loose_dividing *dividing = divider->run->dividing;
    const size_t spare_bytes = sketch_file_longest_bytes(dividing->sketches);
    large_array_free(divider->room, dividing->sketch_bytes);
    large_array_free(divider->spare[0], spare_bytes);
    large_array_free(divider->spare[1], spare_bytes);
    free(divider->nodes);
}

static int divide_some(void *user, unsigned thread, const bool *stop)
{
    struct loose_run *run = user;
    const size_t n = run->dividing->sets->n;
    _cleanup_(divider_done) struct divider divider = {.run = run};
    (void)thread;
    int r = divider_init(run, &divider);
    for (size_t begin; r == 0 && !parallel_stopped(stop) && !parallel_told(run->dividing->stop) &&
                       (begin = (size_t)parallel_next(&run->dealt) * DEALT_AT_ONCE) < n;) {
        for (size_t i = begin; r == 0 && i < begin + DEALT_AT_ONCE && i < n; i++) {
            if (!mark_is_set(run->several, (uint32_t)i))
                continue;
            r = take_nodes(&divider, (uint32_t)i);
            if (r == 0)
                r = run->dividing->center ? 1 : is_loose(&divider);
            if (r == 0) /* the word is this thread's */
                run->several[i / 64] &= ~((uint64_t)1 << i % 64);
            else if (r > 0)
                r = run->dividing->loose_only ? 0 : divide(&divider, (uint32_t)i);
        }
    }
    LOCKED(&run->lock);
    run->counts.n_components += divider.counts.n_components;
    run->counts.n_documents += divider.counts.n_documents;
    run->counts.n_alone += divider.counts.n_alone;
    return r;
}

static void keep_loose(struct loose_run *run)
{
    struct union_find *sets = run->dividing->sets;
    for (uint32_t i = 0; i < sets->n; i++) {
        const uint32_t root = union_find_root(sets, i); /* i at most, and its own still */
        sets->parent[i] = mark_is_set(run->several, root) ? root : i;
    }
}

int loose_divide(const struct loose_dividing *dividing, struct loose_counts *ret_counts,
                 double *cpu_s)
{
    struct loose_run run = {.dividing = dividing, .lock = PTHREAD_MUTEX_INITIALIZER};
    const double begin_s = parallel_cpu_s();
    int r = count_nodes(&run);
    if (r == 0)
        r = list_documents(&run);
    *cpu_s += parallel_cpu_s() - begin_s;
    if (r == 0)
        r = parallel_run(dividing->n_threads, divide_some, &run, cpu_s);
    if (r == 0 && dividing->loose_only)
        keep_loose(&run);
    large_array_free(run.next, dividing->sets->n * sizeof(*run.next));
    free(run.several);
    if (r == 0)
        *ret_counts = run.counts;
    return r;
}
