#include "engine/index/clusters/edge_rule.h"

#include <errno.h>
#include <string.h>

static int is_contained(const struct min_sketch *a, const struct min_sketch *b, double at_least)
{
    struct estimate estimate;

    int r = min_sketch_containment(a, b, &estimate);
    return r < 0 ? (r == -ENODATA ? 0 : r) : estimate.value >= at_least;
}

/* Both are sorted: values that follow each other in both are met one after the other. A document of
 * fewer values has one super shingle, of all. */
static bool shares_run(const struct min_sketch *a, const struct min_sketch *b)
{
    if (a->n_values < SUPER_RUN)
        return a->n_values > 0 && a->n_values == b->n_values &&
               memcmp(a->values, b->values, a->n_values * sizeof(*a->values)) == 0;
    const uint32_t n_a = a->n_values < SUPER_VALUES ? a->n_values : SUPER_VALUES;
    const uint32_t n_b = b->n_values < SUPER_VALUES ? b->n_values : SUPER_VALUES;
    unsigned n_run = 0;

    for (uint32_t i = 0, j = 0; i < n_a && j < n_b && n_run < SUPER_RUN;) {
        const uint64_t x = a->values[i], y = b->values[j];
        n_run = x == y ? n_run + 1 : 0;
        i += x <= y;
        j += y <= x;
    }
    return n_run == SUPER_RUN;
}

int edge_rule_holds(const struct edge_rule *rule, const struct min_sketch *a,
                    const struct min_sketch *b)
{
    struct estimate estimate;

    if (rule->super_shingle)
        return a->policy_id == b->policy_id ? shares_run(a, b) : -EPROTO;
    /* Equal documents are of one class, and need no edge; sketches cannot tell who else is. */
    int r = rule->resemblance < 1 ? min_sketch_reaches(a, b, rule->resemblance, &estimate) : 0;
    if (r == -ENODATA)
        r = 0;
    if (r != 0 || rule->containment == 0 || rule->containment >= 1)
        return r;
    r = is_contained(a, b, rule->containment);
    return r != 0 ? r : is_contained(b, a, rule->containment);
}
