/* Which components are loose, and what their stars are (docs/design/clusters.md), by the
 * definition: by looking at all centres, one by one. Tests compare engine/cluster/stars.h with
 * this. */
#ifndef KINFS_TESTS_LIB_SLOW_STARS_H
#define KINFS_TESTS_LIB_SLOW_STARS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/sketch/estimate.h"
#include "engine/sketch/minima/min_sketch.h"

#define SLOW_ALL_KEYS UINT32_MAX

/* The nodes of a component in their order, or in which centres are chosen. */
struct slow_component {
    const struct min_sketch *const *nodes;
    uint32_t n;
    uint32_t n_keys; /* nodes are compared that share one of so many smallest values; with
                        SLOW_ALL_KEYS any two that share one, however many centres have it */
    double threshold;
};

static inline double slow_resemblance(const struct min_sketch *a, const struct min_sketch *b)
{
    struct estimate estimate;
    if (min_sketch_resemblance(a, b, &estimate) < 0)
        abort();
    return estimate.value;
}

/* Both sides are whole numbers, rounded as stars.c rounds them, so that nothing is on the edge. */
static inline bool slow_is_loose(const struct slow_component *component)
{
    const double one = 4294967296.0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < component->n; i++)
        sum += (uint64_t)(slow_resemblance(component->nodes[0], component->nodes[i]) * one);
    return component->n >= 4 && sum < (uint64_t)(0.8 * component->threshold * one) * component->n;
}

/* Whether one of the n_keys smallest values of a sketch is this. */
static inline bool slow_has_key(const struct min_sketch *sketch, uint32_t n_keys, uint64_t key)
{
    for (uint32_t i = 0; i < sketch->n_values && i < n_keys; i++)
        if (sketch->values[i] == key)
            return true;
    return false;
}

/* Whether a node is compared with a centre before it: of the centres that have a key of both the
 * first 64 are. */
static inline bool slow_asks(const struct slow_component *component, const uint32_t *centres,
                             uint32_t node, uint32_t centre)
{
    const struct min_sketch *sketch = component->nodes[centre];
    const uint32_t n_keys = component->n_keys;
    for (uint32_t i = 0; i < sketch->n_values && i < n_keys; i++) {
        const uint64_t key = sketch->values[i];
        uint32_t n_before = 0;
        if (!slow_has_key(component->nodes[node], n_keys, key))
            continue;
        for (uint32_t k = 0; k < centre && n_keys != SLOW_ALL_KEYS; k++)
            n_before += centres[k] == k && slow_has_key(component->nodes[k], n_keys, key);
        if (n_before < 64)
            return true;
    }
    return false;
}

/* ret_centres[i]: with which node the node i stands; i, where it is a centre. first: with the first
 * that it may; else with the one it resembles most. */
static inline void slow_stars(const struct slow_component *component, bool first,
                              uint32_t *ret_centres)
{
    for (uint32_t i = 0; i < component->n; i++) {
        double best = 0;
        ret_centres[i] = i;
        for (uint32_t k = 0; k < i; k++) {
            const double value = slow_resemblance(component->nodes[k], component->nodes[i]);
            if (ret_centres[k] != k || value < component->threshold || value <= best ||
                (first && ret_centres[i] != i) || !slow_asks(component, ret_centres, i, k))
                continue;
            best = value;
            ret_centres[i] = k;
        }
    }
}

#endif
