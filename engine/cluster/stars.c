/* Example: versions 1 to 9 of a text, each rewritten by a quarter, are one component at 0.5, and 1
 * and 9 have nothing in common. Say 5 is the first by order: it is a centre. 4 and 6 resemble it,
 * and stand with it whenever they come; 8 does not, and is the next centre, with 7 and 9; then 2,
 * with 1 and 3. Where the largest come first (mode center), 9 may be the first, with 8 and 7, and 6
 * the next.
 *
 * The centres a node is compared with are found as candidates are anywhere: by one of its n_keys
 * smallest values. The cost is therefore that of the postings, except for a key that very many
 * centres have (a frame of pages), of which the first STARS_MOST_CENTRES are asked.
 *
 * Left out: joining each node with the centre it resembles most and then moving centres
 * (k-medoids): it takes several passes and depends on where it begins. Dividing at the weakest
 * edges of a spanning tree: each edge is strong, it is the ends that have nothing in common.
 */
#include "engine/cluster/stars.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"

uint64_t stars_order(const struct min_sketch *sketch)
{
    uint64_t order = sketch->n_values;
    for (uint32_t i = 0; i < sketch->n_values; i++)
        order = mix64(order ^ sketch->values[i]);
    return order;
}

static uint64_t share_of(double resemblance)
{
    return (uint64_t)(resemblance * (double)(UINT64_C(1) << 32));
}

int stars_add_node(struct stars_looseness *looseness, const struct min_sketch *first,
                   const struct min_sketch *node)
{
    struct estimate estimate;
    int r = min_sketch_resemblance(first, node, &estimate);
    if (r < 0)
        return r;
    looseness->sum += share_of(estimate.value);
    looseness->n_nodes++;
    return 0;
}

bool stars_are_loose(const struct stars_looseness *looseness, double threshold)
{
    const uint64_t n = looseness->n_nodes;
    return n >= STARS_LOOSE_LEAST && looseness->sum < share_of(STARS_LOOSE_SHARE * threshold) * n;
}

struct posting {
    uint64_t key;
    uint32_t centre, next; /* next: of the same key; STARS_NONE ends */
    uint32_t n;            /* in the last posting of a key: the number of its postings */
};

struct stars {
    struct stars_options options;
    uint32_t *centres, *compared_by; /* by node; compared_by: the last that met it as a centre */
    size_t n, room;
    struct posting *postings;
    size_t n_postings, most_postings;
    uint32_t *slots; /* the last posting of a key, by a hash of it */
    size_t n_slots;
};

int stars_new(const struct stars_options *options, struct stars **ret_stars)
{
    struct stars *stars = calloc(1, sizeof(*stars));
    if (!stars)
        return -ENOMEM;
    stars->options = *options;
    *ret_stars = stars;
    return 0;
}

void stars_free(struct stars *stars)
{
    if (!stars)
        return;
    free(stars->centres);
    free(stars->compared_by);
    free(stars->postings);
    free(stars->slots);
    free(stars);
}

static int enlarge(uint32_t **array, size_t room)
{
    uint32_t *larger = reallocarray(*array, room, sizeof(*larger));
    if (!larger)
        return -ENOMEM;
    *array = larger;
    return 0;
}

static int make_room(struct stars *stars)
{
    const size_t room = stars->room ? 2 * stars->room : 64;
    if (stars->n < stars->room)
        return 0;
    int r = enlarge(&stars->centres, room);
    if (r == 0)
        r = enlarge(&stars->compared_by, room);
    stars->room = r == 0 ? room : stars->room;
    return r;
}

/* -- postings of centres -- */

static uint32_t *slot_of(const struct stars *stars, uint64_t key)
{
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (stars->n_slots - 1);
    while (stars->slots[at] != STARS_NONE && stars->postings[stars->slots[at]].key != key)
        at = (at + 1) & (stars->n_slots - 1);
    return &stars->slots[at];
}

/* Room for the postings of one more centre; at most half of the slots are taken. */
static int make_postings_room(struct stars *stars)
{
    const size_t most = 2 * (stars->most_postings + stars->options.n_keys);
    size_t n_slots = 64;
    if (stars->n_postings + stars->options.n_keys <= stars->most_postings)
        return 0;
    while (n_slots < 2 * most)
        n_slots *= 2;
    struct posting *postings = reallocarray(stars->postings, most, sizeof(*postings));
    if (!postings)
        return -ENOMEM;
    stars->postings = postings;
    int r = enlarge(&stars->slots, n_slots);
    if (r < 0)
        return r;
    stars->most_postings = most;
    stars->n_slots = n_slots;
    memset(stars->slots, 0xff, n_slots * sizeof(*stars->slots));
    for (size_t i = 0; i < stars->n_postings; i++) /* the last of a key stays */
        *slot_of(stars, stars->postings[i].key) = (uint32_t)i;
    return 0;
}

static uint32_t n_keys_of(const struct stars *stars, const struct min_sketch *sketch)
{
    return sketch->n_values < stars->options.n_keys ? sketch->n_values : stars->options.n_keys;
}

static int add_centre(struct stars *stars, uint32_t node, const struct min_sketch *sketch)
{
    int r = make_postings_room(stars);
    for (uint32_t i = 0; r == 0 && i < n_keys_of(stars, sketch); i++) {
        uint32_t *slot = slot_of(stars, sketch->values[i]);
        const uint32_t n = *slot == STARS_NONE ? 0 : stars->postings[*slot].n;
        if (n == STARS_MOST_CENTRES)
            continue;
        stars->postings[stars->n_postings] =
            (struct posting){.key = sketch->values[i], .centre = node, .next = *slot, .n = n + 1};
        *slot = (uint32_t)stars->n_postings++;
    }
    return r;
}

/* -- nodes -- */

/* A node resembles its own centre by best and another by value: true, where the other one is
 * better.
 */
static bool is_better(const struct stars *stars, uint32_t centre, double value, uint32_t own,
                      double best)
{
    if (own == STARS_NONE)
        return true;
    if (stars->options.first)
        return centre < own;
    return value > best || (value == best && centre < own);
}

int stars_place(struct stars *stars, const struct min_sketch *sketch, stars_read_fn read,
                void *user)
{
    uint32_t own = STARS_NONE;
    double best = 0;
    int r = make_room(stars);
    const uint32_t node = (uint32_t)stars->n;
    for (uint32_t i = 0; r == 0 && stars->n_slots && i < n_keys_of(stars, sketch); i++) {
        for (uint32_t at = *slot_of(stars, sketch->values[i]); r == 0 && at != STARS_NONE;
             at = stars->postings[at].next) {
            const uint32_t centre = stars->postings[at].centre;
            struct min_sketch other;
            struct estimate estimate;
            if (stars->compared_by[centre] == node || (stars->options.first && own < centre))
                continue;
            stars->compared_by[centre] = node;
            r = read(user, centre, &other);
            if (r == -ENOENT) {
                r = 0;
                continue;
            }
            if (r == 0)
                r = min_sketch_resemblance(sketch, &other, &estimate);
            if (r == 0 && estimate.value >= stars->options.threshold &&
                is_better(stars, centre, estimate.value, own, best)) {
                best = estimate.value;
                own = centre;
            }
        }
    }
    if (r == 0 && own == STARS_NONE)
        r = add_centre(stars, node, sketch);
    if (r < 0)
        return r;
    stars->centres[node] = own == STARS_NONE ? node : own;
    stars->compared_by[node] = STARS_NONE;
    stars->n++;
    return 0;
}

uint32_t stars_centre(const struct stars *stars, uint32_t node)
{
    return stars->centres[node];
}
