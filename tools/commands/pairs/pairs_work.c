/* The question of kinfs pairs to the index: all sketches go to a batch, which gives the pairs. */
#include <string.h>

#include "tools/commands/command.h"
#include "tools/commands/pairs/tree_batch.h"
#include "tools/documents/document_list.h"
#include "tools/show/json_path.h"

enum { MOST_COMPARED = 16384 }; /* as kinfs cluster --mode=exact */

struct pairs_work {
    struct tree_batch tree;
    bool all;
    /* By the first document of a class: its first ones of each side, and how many it has; by
     * document the next one of the class. UINT32_MAX: none */
    uint32_t *first[2], *sizes, *next;
};

static void pairs_work_done(struct pairs_work *work)
{
    tree_batch_done(&work->tree);
    free(work->next);
    free(work->sizes);
    for (unsigned i = 0; i < 2; i++)
        free(work->first[i]);
}

static int tell_pair(struct pairs_work *work, uint32_t i, uint32_t j, double resemblance)
{
    _cleanup_free_ char *a = paths_get(&work->tree.paths, &work->tree.documents[i]);
    _cleanup_free_ char *b = paths_get(&work->tree.paths, &work->tree.documents[j]);
    if (!a || !b)
        return -ENOMEM;
    const bool turned =
        work->tree.trees[1] ? work->tree.sides[i] == 2 : document_list_compare(a, b) > 0;
    struct json_object *row = json_object_new_object();
    json_path_add(row, "a", turned ? b : a);
    json_path_add(row, "b", turned ? a : b);
    work_add_ratio(row, "resemblance", resemblance);
    return tree_batch_tell(&work->tree, row);
}

/* All pairs of a document of one class and one of the other, or of the same. */
static int tell_all(struct pairs_work *work, uint32_t a, uint32_t b, double resemblance)
{
    int r = 0;
    for (uint32_t i = a; r == 0 && i != UINT32_MAX; i = work->next[i])
        for (uint32_t j = a == b ? work->next[i] : b; r == 0 && j != UINT32_MAX; j = work->next[j])
            if (!work->tree.trees[1] || work->tree.sides[i] != work->tree.sides[j])
                r = tell_pair(work, i, j, resemblance);
    return r;
}

/* For a class of equal documents stands its first one, of each side. */
static int tell_classes(void *user, uint32_t a, uint32_t b, double resemblance)
{
    struct pairs_work *work = user;
    const uint32_t none = UINT32_MAX;
    int r = 0;
    if (work->all)
        return tell_all(work, a, b, resemblance);
    if (!work->tree.trees[1])
        return tell_pair(work, a, b, resemblance);
    for (unsigned side = 0; r == 0 && side < 2; side++)
        if (work->first[side][a] != none && work->first[1 - side][b] != none)
            r = tell_pair(work, work->first[side][a], work->first[1 - side][b], resemblance);
    return r;
}

/* Each of the others with the first one of its class, of the other side. */
static int tell_equal(struct pairs_work *work, uint32_t class)
{
    int r = 0;
    if (work->all)
        return tell_all(work, class, class, 1);
    for (uint32_t i = class; r == 0 && i != UINT32_MAX; i = work->next[i]) {
        const unsigned other = work->tree.trees[1] ? 2 - work->tree.sides[i] : 0;
        const uint32_t first = work->first[other][class];
        /* The pair of the two first ones is told once. */
        if (first != UINT32_MAX && i != work->first[0][class])
            r = tell_pair(work, first, i, 1);
    }
    return r;
}

static int index_classes(struct pairs_work *work)
{
    const size_t bytes = (work->tree.n + (size_t)1) * sizeof(uint32_t);
    uint32_t **const arrays[] = {&work->first[0], &work->first[1], &work->next, &work->sizes};
    for (unsigned i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = malloc(bytes);
        if (!*arrays[i])
            return -ENOMEM;
        memset(*arrays[i], i < 3 ? 0xff : 0, bytes);
    }
    for (uint32_t i = work->tree.n; i-- > 0;) {
        const uint32_t class = work->tree.classes[i];
        work->first[work->tree.sides[i] == 2][class] = i;
        work->sizes[class]++;
        if (class == i)
            continue;
        work->next[i] = work->next[class];
        work->next[class] = i;
    }
    return 0;
}

static int tell_counts(struct pairs_work *work)
{
    uint32_t n_equal = 0;
    for (uint32_t i = 0; i < work->tree.n; i++)
        n_equal += work->tree.classes[i] != i;
    struct json_object *row = json_object_new_object(), *counts = json_object_new_object();
    work_add_count(counts, "documents", work->tree.n);
    work_add_count(counts, "equal", n_equal);
    work_add_count(counts, "shortened", batch_totals(work->tree.batch)->lists.n_shortened);
    json_object_object_add(row, "counts", counts);
    return tree_batch_tell(&work->tree, row);
}

static int tell_all_pairs(struct pairs_work *work)
{
    int r = index_classes(work);
    if (r == 0)
        r = tell_counts(work);
    for (uint32_t i = 0; r == 0 && i < work->tree.n; i++)
        if (work->sizes[i] > 1)
            r = tell_equal(work, i);
    return r == 0 ? batch_each_pair(work->tree.batch, tell_classes, work) : r;
}

int work_pairs(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error)
{
    _cleanup_(pairs_work_done) struct pairs_work work = {
        .tree = {.row = row,
                 .user = user,
                 .least = work_number(request, "min", 0),
                 .most_compared = MOST_COMPARED},
        .all = work_flag(request, "all")};
    if (json_path_get(request, "a", &work.tree.trees[0]) < 0 ||
        !(work.tree.least > 0 && work.tree.least <= 1))
        return refuse(ret_error, -EINVAL, "the request has no tree or no least resemblance");
    (void)json_path_get(request, "b", &work.tree.trees[1]);
    int r = tree_batch_run(context, &work.tree);
    if (r == 0)
        r = tell_all_pairs(&work);
    return tree_batch_refuse(context, &work.tree, r, ret_error);
}
