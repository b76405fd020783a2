/* Union-find with hooking by index: the larger of two roots is hooked under the smaller one, so a
 * root is the smallest member of its set, and parents only ever fall. union_find.h says why threads
 * need no lock.
 *
 * Example: joining 3 and 5 makes 3 the parent of 5; joining 5 and 2 makes 2 the parent of the root
 * 3. Asking for the root of 5 then goes 5, 3, 2 and makes 2 the parent of 5: the path is halved.
 *
 * Cost: nearly constant a question. Left out: union by rank, which bounds the depth better but
 * whose roots depend on the order of joins.
 */
#include "engine/cluster/large/union_find.h"

#include <errno.h>

#include "engine/cluster/large/large_array.h"

int union_find_init(struct union_find *sets, size_t n)
{
    if (n > UINT32_MAX)
        return -EOVERFLOW;
    uint32_t *parent = large_array_new(n * sizeof(*parent));
    if (!parent)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        parent[i] = (uint32_t)i;
    *sets = (struct union_find){.parent = parent, .n = n};
    return 0;
}

void union_find_done(struct union_find *sets)
{
    large_array_free(sets->parent, sets->n * sizeof(*sets->parent));
    *sets = (struct union_find){0};
}

static inline uint32_t parent_of(const struct union_find *sets, uint32_t x)
{
    return __atomic_load_n(&sets->parent[x], __ATOMIC_RELAXED);
}

uint32_t union_find_root(struct union_find *sets, uint32_t x)
{
    for (;;) {
        uint32_t parent = parent_of(sets, x);
        if (parent == x)
            return x;
        uint32_t grandparent = parent_of(sets, parent);
        /* The path is halved for later questions. x is no root and never will be again; another
         * thread that stores here at the same time stores an ancestor of x, too. */
        if (grandparent != parent)
            __atomic_store_n(&sets->parent[x], grandparent, __ATOMIC_RELAXED);
        x = grandparent;
    }
}

int union_find_join(struct union_find *sets, uint32_t x, uint32_t y)
{
    for (;;) {
        x = union_find_root(sets, x);
        y = union_find_root(sets, y);
        if (x == y)
            return 0;
        uint32_t smaller = x < y ? x : y, larger = x < y ? y : x, expected = larger;
        if (__atomic_compare_exchange_n(&sets->parent[larger], &expected, smaller, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 1; /* else another thread has hooked it */
    }
}
