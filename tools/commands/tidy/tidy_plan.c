#include "tools/commands/tidy/tidy_plan.h"

#include <errno.h>
#include <string.h>

#include "base/room.h"

const char *const tidy_acts[N_TIDY_ACTS] = {"list", "trash", "link", "reflink"};

enum tidy_act tidy_act_of(const char *word)
{
    enum tidy_act act = 0;
    while (act < N_TIDY_ACTS && strcmp(word, tidy_acts[act]) != 0)
        act++;
    return act;
}

static void item_done(struct tidy_item *item)
{
    free(item->path);
    free(item->keep);
}

void tidy_plan_done(struct tidy_plan *plan)
{
    for (size_t i = 0; i < plan->n; i++)
        item_done(&plan->items[i]);
    free(plan->items);
    free(plan->directory);
}

/* By what is kept, then by path. */
static int compare(const void *a, const void *b)
{
    const struct tidy_item *item_a = a, *item_b = b;
    const int r = strcmp(item_a->keep, item_b->keep);
    return r ? r : strcmp(item_a->path, item_b->path);
}

void tidy_plan_sort(struct tidy_plan *plan)
{
    if (plan->n)
        qsort(plan->items, plan->n, sizeof(*plan->items), compare);
}

const struct tidy_item *tidy_plan_find(const struct tidy_plan *plan, const char *path,
                                       const char *keep)
{
    const struct tidy_item key = {.path = (char *)path, .keep = (char *)keep};
    return plan->n ? bsearch(&key, plan->items, plan->n, sizeof(key), compare) : NULL;
}

int tidy_plan_add(struct tidy_plan *plan, struct tidy_item *item)
{
    if (!MAKE_ROOM(plan->items, plan->room, plan->n + 1)) {
        item_done(item);
        return -ENOMEM;
    }
    plan->items[plan->n++] = *item;
    return 0;
}

/* -- what is not for the plan -- */

static void drop_some(struct tidy_plan *plan, const bool *drop)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->n; i++)
        if (drop[i])
            item_done(&plan->items[i]);
        else
            plan->items[n++] = plan->items[i];
    plan->n = n;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int tidy_plan_drop_chains(struct tidy_plan *plan)
{
    _cleanup_free_ const char **paths = calloc(plan->n + 1, sizeof(*paths));
    _cleanup_free_ bool *drop = calloc(plan->n + 1, sizeof(*drop));
    if (!paths || !drop)
        return -ENOMEM;
    for (size_t i = 0; i < plan->n; i++)
        paths[i] = plan->items[i].path;
    qsort(paths, plan->n, sizeof(*paths), compare_paths);
    for (size_t i = 0; i < plan->n; i++)
        drop[i] = bsearch(&plan->items[i].keep, paths, plan->n, sizeof(*paths), compare_paths);
    drop_some(plan, drop);
    return 0;
}

/* -- equal ones that are left out for another -- */

static int compare_kept_sizes(const void *a, const void *b)
{
    const struct tidy_item *item_a = a, *item_b = b;
    const int r = strcmp(item_a->keep, item_b->keep);
    const uint64_t size_a = item_a->is.size_bytes, size_b = item_b->is.size_bytes;
    return r                  ? r
           : size_a != size_b ? (size_a < size_b ? -1 : 1)
                              : (int)item_a->is_equal - (int)item_b->is_equal;
}

bool tidy_plan_may_have_more(struct tidy_plan *plan)
{
    if (plan->n)
        qsort(plan->items, plan->n, sizeof(*plan->items), compare_kept_sizes);
    for (size_t i = 1; i < plan->n; i++)
        if (!plan->items[i].is_equal &&
            compare_kept_sizes(&plan->items[i - 1], &plan->items[i]) == 0)
            return true;
    return false;
}

static int compare_item_paths(const void *a, const void *b)
{
    const struct tidy_item *item_a = a, *item_b = b;
    const int r = strcmp(item_a->path, item_b->path);
    return r ? r : (int)item_a->is_equal - (int)item_b->is_equal;
}

int tidy_plan_choose(struct tidy_plan *plan, bool near)
{
    _cleanup_free_ bool *drop = calloc(plan->n + 1, sizeof(*drop));
    if (!drop)
        return -ENOMEM;
    if (plan->n)
        qsort(plan->items, plan->n, sizeof(*plan->items), compare_item_paths);
    for (size_t i = 1; i < plan->n; i++)
        if (strcmp(plan->items[i - 1].path, plan->items[i].path) == 0)
            drop[near ? i : i - 1] = true;
    drop_some(plan, drop);
    tidy_plan_sort(plan);
    return 0;
}

int tidy_plan_add_equal(struct tidy_plan *plan, struct tidy_plan *equal)
{
    int r = 0;
    const size_t n = plan->n;
    if (n)
        qsort(plan->items, n, sizeof(*plan->items), compare_item_paths);
    for (size_t i = 0; i < equal->n; i++) {
        struct tidy_item *item = &equal->items[i], near = {.path = item->path};
        if (r < 0 || n == 0 || !bsearch(&near, plan->items, n, sizeof(near), compare_item_paths))
            item_done(item);
        else
            r = tidy_plan_add(plan, item);
    }
    equal->n = 0;
    return r;
}

/* -- deciding -- */

uint64_t tidy_item_saves(const struct tidy_item *item)
{
    return item->is.n_links == 1 ? item->is.size_bytes : 0;
}

static const char *why_not(const struct tidy_item *item, enum tidy_act act, bool near)
{
    const struct tidy_state *is = &item->is, *keep_is = &item->keep_is;
    if (!item->is_equal && !near)
        return act == TIDY_TRASH ? "a near-duplicate; --near moves it, too" : "a near-duplicate";
    if (act != TIDY_LINK)
        return NULL;
    return is->n_links != 1 ? "it has other names"
           : is->uid != keep_is->uid || is->gid != keep_is->gid || is->mode != keep_is->mode
               ? "owner, group or mode is another"
           : is->mtime.tv_sec != keep_is->mtime.tv_sec ||
                   is->mtime.tv_nsec != keep_is->mtime.tv_nsec
               ? "the time is another"
               : NULL;
}

void tidy_plan_decide(struct tidy_plan *plan, enum tidy_act act, bool near)
{
    for (size_t i = 0; i < plan->n && act != TIDY_LIST; i++) {
        struct tidy_item *item = &plan->items[i];
        item->why = why_not(item, act, near);
        item->act = item->why ? TIDY_LIST : act;
    }
}
