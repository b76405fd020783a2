/* Sketches of planted similarity, and what is near by the definition. Included by tests only. */
#ifndef KINFS_TESTS_UNIT_ENGINE_TOPIC_NEAR_PLANTED_SKETCHES_H
#define KINFS_TESTS_UNIT_ENGINE_TOPIC_NEAR_PLANTED_SKETCHES_H

#include "tests/lib/trials.h"

#include "engine/topic/near/draws.h"
#include "engine/topic/near/near.h"
#include "tests/lib/scratch.h"

/* Nodes of families: those of one agree with its root in a signature with the given chance, so with
 * each other with the square of it. Every 97th node is an empty bag. */
static inline void plant_sketch(uint32_t node, uint32_t family_nodes, unsigned percent,
                                struct bag_sketch *ret_sketch)
{
    uint64_t of_family = mix64(node / family_nodes + 1), of_node = mix64(~(uint64_t)node);
    bag_sketch_empty(ret_sketch);
    for (unsigned i = 0; node % 97 != 96 && i < BAG_SIGNATURES; i++) {
        uint64_t common = mix64_next(&of_family), own = mix64_next(&of_node),
                 chance = mix64_next(&of_node);
        bag_sketch_set(ret_sketch, i, chance % 100 < percent ? common : own);
    }
}

static inline void put_sketches(const struct bag_sketch *sketches, uint32_t n,
                                uint64_t memory_bytes, const char *scratch,
                                struct signatures *ret_signatures)
{
    struct signatures_block *block = calloc(1, sizeof(*block));
    assert_non_null(block);
    assert_int_equal(signatures_init(n, scratch, memory_bytes, ret_signatures), 0);
    for (uint32_t number = 0; number < ret_signatures->n_blocks; number++) {
        for (uint32_t i = 0; i < signatures_nodes(ret_signatures, number); i++)
            signatures_set(block, i, &sketches[number * SIGNATURES_BLOCK + i]);
        assert_int_equal(signatures_put(ret_signatures, number, block), 0);
    }
    free(block);
}

static inline struct near_options near_options_of(const char *scratch, uint32_t n)
{
    return (struct near_options){.n_draws = 125,
                                 .k = 3,
                                 .seed = 2000,
                                 .heads = n,
                                 .n_compared = BAG_SIGNATURES,
                                 .least_agreeing = signatures_expected(0.2, BAG_SIGNATURES),
                                 .memory_bytes = near_least_bytes(n),
                                 .n_threads = 2,
                                 .scratch = scratch};
}

/* Whether two nodes agree in all signatures of a draw, of some draw. */
static inline bool is_candidate(const struct draws *draws, const struct bag_sketch *a,
                                const struct bag_sketch *b)
{
    bool agree[BAG_SIGNATURES];
    for (unsigned i = 0; i < BAG_SIGNATURES; i++)
        agree[i] =
            bag_sketch_signature(a, i) == bag_sketch_signature(b, i) && !bag_sketch_is_empty(a);
    for (unsigned draw = 0; draw < draws->n; draw++) {
        unsigned j = 0;
        while (j < draws->k && agree[draws->signatures[draw][j]])
            j++;
        if (j == draws->k)
            return true;
    }
    return false;
}

/* All relations of a node, the nearest first. Returns how many. */
static inline size_t relations_expected(const struct bag_sketch *sketches, uint32_t n,
                                        const struct draws *draws, unsigned least_agreeing,
                                        uint32_t node, uint64_t *ret_relations)
{
    size_t n_found = 0;
    for (uint32_t other = 0; other < n; other++) {
        unsigned agreeing =
            signatures_agreeing(sketches[node].low, sketches[other].low, BAG_SIGNATURES);
        if (other != node && agreeing >= least_agreeing &&
            is_candidate(draws, &sketches[node], &sketches[other]))
            ret_relations[n_found++] = relation_of(node, other, agreeing);
    }
    qsort(ret_relations, n_found, sizeof(*ret_relations), trial_compare);
    return n_found;
}

#endif
