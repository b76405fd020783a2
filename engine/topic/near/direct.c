/* Each draw has its numbers (draws.h) sorted. Those that agree with a bag in a draw are in a row,
 * which is found by halving; of the row those are compared that near_find() would pair with it.
 *
 * Example with two heads: of the row 3 5 8 9 the node 5 is compared with 3, 8 and 9, as it is a
 * head, and 9 with 3 and 5.
 *
 * Cost: 125 times log n steps, and a comparison for each node that some draw has. Left out: places
 * in a file; a question would be 125 reads.
 */
#include "engine/topic/near/direct.h"

#include "base/sort_numbers.h"
#include "engine/cluster/large/large_array.h"
#include "engine/topic/near/draws.h"

struct direct {
    uint32_t n_nodes, heads;
    unsigned node_bits, n_compared, least_agreeing;
    struct draws draws;
    struct bag_sketch *sketches;
    uint64_t *places[DRAWS_MOST]; /* of each draw */
    uint32_t n_places;            /* of bags that are not empty: the same for all draws */
    uint32_t *asked;              /* by which question a node was compared last */
    uint32_t question;
    uint64_t *found;
    uint32_t *near;
};

static void *array_of(const struct direct *direct, size_t each_bytes)
{
    return large_array_new(direct->n_nodes * each_bytes);
}

static void array_free(const struct direct *direct, void *array, size_t each_bytes)
{
    large_array_free(array, direct->n_nodes * each_bytes);
}

void direct_free(struct direct *direct)
{
    if (!direct)
        return;
    for (unsigned i = 0; i < direct->draws.n; i++)
        array_free(direct, direct->places[i], sizeof(uint64_t));
    array_free(direct, direct->sketches, sizeof(struct bag_sketch));
    array_free(direct, direct->asked, sizeof(uint32_t));
    array_free(direct, direct->found, sizeof(uint64_t));
    array_free(direct, direct->near, sizeof(uint32_t));
    free(direct);
}

/* -- making -- */

static int take_sketches(struct direct *direct, struct signatures *signatures, uint32_t block)
{
    const uint32_t n = signatures_nodes(signatures, block);
    struct bag_sketch *to = direct->sketches + (size_t)block * SIGNATURES_BLOCK;
    uint8_t low_buffer[SIGNATURES_BLOCK];
    uint16_t high_buffer[SIGNATURES_BLOCK];
    for (unsigned j = 0; j < BAG_SIGNATURES; j++) {
        const uint8_t *low;
        const uint16_t *high;
        int r = signatures_low(signatures, block, j, low_buffer, &low);
        if (r == 0)
            r = signatures_high(signatures, block, j, high_buffer, &high);
        if (r < 0)
            return r;
        for (uint32_t i = 0; i < n; i++) {
            to[i].low[j] = low[i];
            to[i].high[j] = high[i];
        }
    }
    return 0;
}

static int take_places(struct direct *direct, struct signatures *signatures, unsigned draw,
                       struct draw_numbers *numbers, uint64_t *scratch)
{
    uint64_t *places = array_of(direct, sizeof(uint64_t));
    direct->places[draw] = places;
    if (!places)
        return -ENOMEM;
    direct->n_places = 0;
    for (uint32_t block = 0; block < signatures->n_blocks; block++) {
        int r = draw_block(&direct->draws, draw, signatures, block, numbers);
        if (r < 0)
            return r;
        memcpy(places + direct->n_places, numbers->numbers, numbers->n * sizeof(*places));
        direct->n_places += numbers->n;
    }
    sort_numbers(places, direct->n_places, scratch);
    return 0;
}

static int take_all(struct direct *direct, struct signatures *signatures)
{
    _cleanup_free_ struct draw_numbers *numbers = malloc(sizeof(*numbers));
    int r = numbers ? 0 : -ENOMEM;
    for (uint32_t block = 0; r == 0 && block < signatures->n_blocks; block++)
        r = take_sketches(direct, signatures, block);
    for (unsigned draw = 0; r == 0 && draw < direct->draws.n; draw++)
        r = take_places(direct, signatures, draw, numbers, direct->found);
    return r;
}

int direct_new(struct signatures *signatures, const struct near_options *options,
               struct direct **ret_direct)
{
    if (options->heads < 1 || options->n_compared < 1 || options->n_compared > BAG_SIGNATURES)
        return -EINVAL;
    _cleanup_(direct_free_p) struct direct *direct = calloc(1, sizeof(*direct));
    if (!direct)
        return -ENOMEM;
    int r = draws_init(options->n_draws, options->k, options->seed, &direct->draws);
    if (r < 0)
        return r;
    direct->n_nodes = signatures->n_nodes;
    direct->node_bits = draw_node_bits(signatures->n_nodes);
    direct->heads = options->heads;
    direct->n_compared = options->n_compared;
    direct->least_agreeing = options->least_agreeing;
    direct->sketches = array_of(direct, sizeof(struct bag_sketch));
    direct->asked = array_of(direct, sizeof(uint32_t));
    direct->found = array_of(direct, sizeof(uint64_t));
    direct->near = array_of(direct, sizeof(uint32_t));
    if (!direct->sketches || !direct->asked || !direct->found || !direct->near)
        return -ENOMEM;
    r = take_all(direct, signatures);
    if (r == 0)
        *ret_direct = TAKE_PTR(direct);
    return r;
}

/* -- asking -- */

/* The first place that is not below a number. */
static uint32_t place_of(const struct direct *direct, unsigned draw, uint64_t number)
{
    uint32_t least = 0, most = direct->n_places;
    while (least < most) {
        uint32_t middle = least + (most - least) / 2;
        if (direct->places[draw][middle] < number)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

struct question {
    const struct bag_sketch *sketch;
    uint32_t node; /* UINT32_MAX: none */
    size_t n_found;
};

static void compare(struct direct *direct, struct question *question, uint32_t node)
{
    if (node == question->node || direct->asked[node] == direct->question)
        return;
    direct->asked[node] = direct->question;
    unsigned agreeing =
        signatures_agreeing(question->sketch->low, direct->sketches[node].low, direct->n_compared);
    if (agreeing >= direct->least_agreeing)
        direct->found[question->n_found++] =
            relation_of(question->node == UINT32_MAX ? 0 : question->node, node, agreeing);
}

static void compare_row(struct direct *direct, struct question *question, unsigned draw)
{
    const uint64_t node_mask = ((uint64_t)1 << direct->node_bits) - 1,
                   number = draw_of(&direct->draws, draw, question->sketch) & ~node_mask;
    const uint32_t first = place_of(direct, draw, number);
    uint32_t own =
        question->node == UINT32_MAX ? UINT32_MAX : place_of(direct, draw, number | question->node);
    for (uint32_t at = first;
         at < direct->n_places && (direct->places[draw][at] & ~node_mask) == number; at++) {
        if (at - first >= direct->heads && own - first >= direct->heads)
            break;
        compare(direct, question, (uint32_t)(direct->places[draw][at] & node_mask));
    }
}

static int compare_relations(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t ask(struct direct *direct, struct question *question, const uint64_t **ret_relations)
{
    if (++direct->question == 0) { /* all questions of before are forgotten */
        memset(direct->asked, 0, direct->n_nodes * sizeof(*direct->asked));
        direct->question = 1;
    }
    *ret_relations = direct->found;
    if (bag_sketch_is_empty(question->sketch))
        return 0;
    for (unsigned draw = 0; draw < direct->draws.n; draw++)
        compare_row(direct, question, draw);
    qsort(direct->found, question->n_found, sizeof(*direct->found), compare_relations);
    return question->n_found;
}

size_t direct_of(struct direct *direct, uint32_t node, const uint64_t **ret_relations)
{
    struct question question = {.sketch = &direct->sketches[node], .node = node};
    return ask(direct, &question, ret_relations);
}

size_t direct_near(struct direct *direct, const struct bag_sketch *sketch,
                   const uint64_t **ret_relations)
{
    struct question question = {.sketch = sketch, .node = UINT32_MAX};
    return ask(direct, &question, ret_relations);
}

int64_t direct_ask(void *user, uint32_t node, const uint32_t **ret_near)
{
    struct direct *direct = user;
    const uint64_t *relations;
    size_t n = direct_of(direct, node, &relations);
    for (size_t i = 0; i < n; i++)
        direct->near[i] = relation_to(relations[i]);
    *ret_near = direct->near;
    return (int64_t)n;
}
