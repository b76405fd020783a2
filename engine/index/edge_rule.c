#include "engine/index/edge_rule.h"

#include <errno.h>

int edge_rule_holds(const struct edge_rule *rule, const struct min_sketch *a,
                    const struct min_sketch *b)
{
    struct estimate estimate;

    int r = min_sketch_reaches(a, b, rule->resemblance, &estimate);
    return r == -ENODATA ? 0 : r;
}
