/* CENTER clusters (Haveliwala, Gionis, Indyk 2000, section 3.4) within components.
 *
 * Example: versions 1 to 9 of a text, each rewritten by a quarter, are one component at 0.5, and 1
 * and 9 have nothing in common. The nodes are taken in the order of a hash of their sketches. Say 5
 * comes first: it is a centre. 4 and 6 resemble it, and stand with it whenever they come; 8 does
 * not, and is the next centre, with 7 and 9; then 2, with 1 and 3.
 *
 * The centres a node is compared with are found as candidates are anywhere: by one of its n_keys
 * smallest values. The cost is therefore that of the postings, except for a key that very many
 * centres have (a frame of pages), of which the first LOOSE_MOST_CENTRES are asked.
 *
 * Documents of equal shingles stand with the first of them; which that was is forgotten in the
 * component, and found again by the sketch.
 *
 * Mode center takes the largest nodes first: 9, say, which is the longest version. 8 and 7 resemble
 * it, and stand with it; 6 does not, and is the next centre.
 *
 * Left out: joining each node with the centre it resembles most and then moving centres
 * (k-medoids): it takes several passes and depends on where it begins. Dividing at the weakest
 * edges of a spanning tree: each edge is strong, it is the ends that have nothing in common.
 */
#include "engine/cluster/loose.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/cluster/pairs/equivalence.h"
#include "engine/cluster/large/large_array.h"
#include "engine/cluster/large/parallel.h"

enum { DEALT_AT_ONCE = 4096, NONE = UINT32_MAX };

struct loose_run {
    const struct loose_dividing *dividing;
    uint32_t *next;    /* the documents of a component from its root on, ascending; 0 ends */
    uint64_t *several; /* a bit a root: so many nodes at least that it may be divided */
    uint32_t dealt;
    pthread_mutex_t lock; /* of counts */
    struct loose_counts counts;
};

struct node {
    uint64_t size; /* center: shingles; else 0 */
    uint64_t rank; /* of its filter */
    uint32_t document, centre;
    uint32_t n_documents, first; /* of a centre's star: its documents, and the first of them */
    struct min_sketch sketch;    /* n_values 0: not in the room */
};

struct posting {
    uint64_t key;
    uint32_t centre, next; /* next: of the same key; NONE ends */
    uint32_t n;            /* in the last posting of a key: the number of its postings */
};

/* The state of one thread. */
struct divider {
    struct loose_run *run;
    uint8_t *room; /* for sketches of one component */
    size_t n_room;
    uint8_t *spare[2]; /* for a sketch that has no room there */
    struct node *nodes;
    size_t n_nodes, most_nodes;
    struct posting *postings;
    size_t n_postings, most_postings;
    uint32_t *slots, *compared_by; /* slots: the last posting of a key, by a hash of it */
    size_t n_slots;
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

static int resemblance(struct divider *divider, struct node *a, struct node *b, double *ret_value)
{
    struct min_sketch x, y;
    struct estimate estimate;
    int r = read_sketch(divider, a, 0, &x);
    if (r == 0)
        r = read_sketch(divider, b, 1, &y);
    if (r == 0)
        r = min_sketch_resemblance(&x, &y, &estimate);
    if (r == 0)
        *ret_value = estimate.value;
    return r;
}

/* -- whether a component is loose -- */

static int compare_nodes(const void *a, const void *b)
{
    const struct node *x = a, *y = b;
    if (x->size != y->size)
        return x->size > y->size ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->document > y->document) - (x->document < y->document);
}

static int take_node(struct divider *divider, uint32_t document)
{
    struct overlap_filter filter;
    if (divider->n_nodes == divider->most_nodes) {
        size_t most = divider->most_nodes ? 2 * divider->most_nodes : 64;
        struct node *larger = reallocarray(divider->nodes, most, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        divider->nodes = larger;
        divider->most_nodes = most;
    }
    int r = sketch_file_filter(divider->run->dividing->sketches, document, &filter);
    if (r < 0)
        return r;
    sketch_file_ask_for(divider->run->dividing->sketches, document);
    divider->nodes[divider->n_nodes++] =
        (struct node){.rank = overlap_filter_rank(&filter), .document = document, .centre = NONE};
    return 0;
}

static int read_size(struct divider *divider, struct node *node)
{
    struct min_sketch sketch;
    int r = read_sketch(divider, node, 0, &sketch);
    if (r == 0)
        node->size = (uint64_t)min_sketch_cardinality(&sketch);
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
    for (size_t i = 0; r == 0 && run->dividing->center && i < divider->n_nodes; i++)
        r = read_size(divider, &divider->nodes[i]);
    if (r == 0)
        qsort(divider->nodes, divider->n_nodes, sizeof(*divider->nodes), compare_nodes);
    return r;
}

/* The node with the most shingles; of several with as many the first by rank. */
static int find_largest(struct divider *divider, size_t *ret_place)
{
    double most = -1;
    for (size_t i = 0; i < divider->n_nodes; i++) {
        struct min_sketch sketch;
        int r = read_sketch(divider, &divider->nodes[i], 0, &sketch);
        if (r < 0)
            return r;
        double n = min_sketch_cardinality(&sketch);
        if (n > most) {
            most = n;
            *ret_place = i;
        }
    }
    return 0;
}

/* Returns 1, 0 or an error. */
static int is_loose(struct divider *divider)
{
    size_t largest = 0;
    double sum = 0;
    int r = find_largest(divider, &largest);
    for (size_t i = 0; r == 0 && i < divider->n_nodes; i++) {
        double value = 1;
        if (i != largest)
            r = resemblance(divider, &divider->nodes[largest], &divider->nodes[i], &value);
        sum += value;
    }
    if (r < 0)
        return r;
    return sum < LOOSE_SHARE * divider->run->dividing->threshold * (double)divider->n_nodes;
}

/* -- stars -- */

static uint32_t *slot_of(const struct divider *divider, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (divider->n_slots - 1);
    while (divider->slots[at] != NONE && divider->postings[divider->slots[at]].key != key)
        at = (at + 1) & (divider->n_slots - 1);
    return &divider->slots[at];
}

/* Room for the postings of all nodes, should each be a centre. */
static int make_slots(struct divider *divider)
{
    size_t most = divider->n_nodes * divider->run->dividing->n_keys, n_slots = 64;
    while (n_slots < 2 * most)
        n_slots *= 2;
    free(divider->slots);
    free(divider->compared_by);
    free(divider->postings);
    divider->n_slots = n_slots;
    divider->n_postings = 0;
    divider->slots = malloc(n_slots * sizeof(*divider->slots));
    divider->compared_by = malloc(divider->n_nodes * sizeof(*divider->compared_by));
    divider->postings = malloc(most * sizeof(*divider->postings));
    if (!divider->slots || !divider->compared_by || !divider->postings)
        return -ENOMEM;
    memset(divider->slots, 0xff, n_slots * sizeof(*divider->slots));
    memset(divider->compared_by, 0xff, divider->n_nodes * sizeof(*divider->compared_by));
    return 0;
}

static uint32_t n_keys_of(const struct divider *divider, const struct min_sketch *sketch)
{
    const uint32_t n_keys = divider->run->dividing->n_keys;
    return sketch->n_values < n_keys ? sketch->n_values : n_keys;
}

static void add_centre(struct divider *divider, uint32_t place, const struct min_sketch *sketch)
{
    divider->nodes[place].centre = place;
    for (uint32_t i = 0; i < n_keys_of(divider, sketch); i++) {
        uint32_t *slot = slot_of(divider, sketch->values[i]);
        const uint32_t n = *slot == NONE ? 0 : divider->postings[*slot].n;
        if (n == LOOSE_MOST_CENTRES)
            continue;
        divider->postings[divider->n_postings] =
            (struct posting){.key = sketch->values[i], .centre = place, .next = *slot, .n = n + 1};
        *slot = (uint32_t)divider->n_postings++;
    }
}

/* Whether a node would rather stand with another centre, which it resembles by value, than with the
 * one it has, which it resembles by best. */
static bool is_better(const struct divider *divider, const struct node *node, uint32_t centre,
                      double value, double best)
{
    if (node->centre == NONE)
        return true;
    if (divider->run->dividing->center)
        return centre < node->centre;
    return value > best || (value == best && centre < node->centre);
}

/* A node that resembles a centre stands with it; else it is a centre. */
static int place_node(struct divider *divider, uint32_t place)
{
    struct node *node = &divider->nodes[place];
    const struct loose_dividing *dividing = divider->run->dividing;
    struct min_sketch sketch;
    double best = 0;
    int r = read_sketch(divider, node, 0, &sketch);
    for (uint32_t i = 0; r == 0 && i < n_keys_of(divider, &sketch); i++) {
        for (uint32_t at = *slot_of(divider, sketch.values[i]); r == 0 && at != NONE;
             at = divider->postings[at].next) {
            const uint32_t centre = divider->postings[at].centre;
            double value;
            if (divider->compared_by[centre] == place ||
                (dividing->center && node->centre < centre))
                continue;
            divider->compared_by[centre] = place;
            r = resemblance(divider, node, &divider->nodes[centre], &value);
            if (r == 0 && value >= dividing->threshold &&
                is_better(divider, node, centre, value, best)) {
                best = value;
                node->centre = centre;
            }
        }
    }
    if (r == 0 && node->centre == NONE)
        add_centre(divider, place, &sketch);
    return r;
}

static bool is_before(const struct node *a, const struct node *b)
{
    return a->size != b->size ? a->size > b->size : a->rank < b->rank;
}

/* The node of a document's shingles. */
static int find_node(struct divider *divider, uint32_t document, size_t *ret_place)
{
    struct overlap_filter filter;
    struct node own = {.document = document};
    struct min_sketch sketch, other;
    size_t low = 0, high = divider->n_nodes;
    int r = sketch_file_filter(divider->run->dividing->sketches, document, &filter);
    if (r == 0)
        r = read_sketch(divider, &own, 0, &sketch);
    if (r < 0)
        return r;
    own.rank = overlap_filter_rank(&filter);
    if (divider->run->dividing->center)
        own.size = (uint64_t)min_sketch_cardinality(&sketch);
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
static int put_stars(struct divider *divider, uint32_t root)
{
    struct loose_run *run = divider->run;
    uint32_t *parent = run->dividing->sets->parent, document = root;
    int r = 0;
    do {
        size_t place = 0;
        r = find_node(divider, document, &place);
        if (r < 0)
            return r;
        struct node *centre = &divider->nodes[divider->nodes[place].centre];
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
    int r = make_slots(divider);
    for (uint32_t i = 0; r == 0 && i < divider->n_nodes; i++)
        r = place_node(divider, i);
    if (r == 0)
        r = put_stars(divider, root);
    divider->counts.n_components += r == 0;
    return r;
}

/* -- all components -- */

/* Marks the roots of components with so many nodes: two planes of bits count to three. */
static int count_nodes(struct loose_run *run)
{
    const struct loose_dividing *dividing = run->dividing;
    const uint32_t least = dividing->center ? CENTER_LEAST_NODES : LOOSE_LEAST_NODES;
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
    free(divider->postings);
    free(divider->slots);
    free(divider->compared_by);
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
            if (r > 0)
                r = divide(&divider, (uint32_t)i);
        }
    }
    LOCKED(&run->lock);
    run->counts.n_components += divider.counts.n_components;
    run->counts.n_documents += divider.counts.n_documents;
    run->counts.n_alone += divider.counts.n_alone;
    return r;
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
    large_array_free(run.next, dividing->sets->n * sizeof(*run.next));
    free(run.several);
    if (r == 0)
        *ret_counts = run.counts;
    return r;
}
