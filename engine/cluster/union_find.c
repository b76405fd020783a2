#include "engine/cluster/union_find.h"

#include <errno.h>
#include <stdlib.h>

int union_find_init(struct union_find *sets, size_t n)
{
    if (n > UINT32_MAX)
        return -EOVERFLOW;
    uint32_t *parent = malloc((n ? n : 1) * sizeof(*parent));
    if (!parent)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        parent[i] = (uint32_t)i;
    *sets = (struct union_find){.parent = parent, .n = n};
    return 0;
}

void union_find_done(struct union_find *sets)
{
    free(sets->parent);
    *sets = (struct union_find){0};
}

uint32_t union_find_root(struct union_find *sets, uint32_t x)
{
    uint32_t *parent = sets->parent;
    while (parent[x] != x) {
        parent[x] = parent[parent[x]]; /* halves the path for whoever comes next */
        x = parent[x];
    }
    return x;
}

int union_find_join(struct union_find *sets, uint32_t x, uint32_t y)
{
    x = union_find_root(sets, x);
    y = union_find_root(sets, y);
    if (x == y)
        return 0;
    if (x < y)
        sets->parent[y] = x;
    else
        sets->parent[x] = y;
    return 1;
}
