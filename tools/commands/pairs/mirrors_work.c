/* The question of kinfs mirrors to the index: a batch gives the pairs of documents, and they those
 * of directories. */
#include <math.h>
#include <string.h>

#include "base/room.h"
#include "tools/commands/command.h"
#include "tools/commands/pairs/mirrors.h"
#include "tools/commands/pairs/tree_batch.h"
#include "tools/show/json_path.h"

/* Documents that have a fingerprint in common with more than MOST_COMPARED are compared with the
 * first ones only, so many for each directory that one may be in: enough to say that it is in too
 * many. */
enum { MOST_COMPARED = 1000, HEADS_FOR_EACH = 2 };

struct mirrors_work {
    struct tree_batch tree;
    uint32_t most;
    const struct work_context *context;
    struct alike *alike;
    size_t n_compared; /* paths of documents */
    bool is_over;      /* meanwhile nobody waits for the answer any more */
    bool *in;          /* by document: there is something to compare */
    uint64_t *sizes;   /* by document */
    size_t in_room, sizes_room;
    uint32_t *directories;       /* by document: its directory's number, in the order of a walk */
    uint32_t *numbers, *parents; /* by directory of the paths its number; by number the parent's */
    uint32_t *of_number;         /* by number the directory of the paths */
    struct mirror *mirrors;
    size_t n_mirrors;
};

static void mirrors_work_done(struct mirrors_work *work)
{
    tree_batch_done(&work->tree);
    alike_free(work->alike);
    free(work->in);
    free(work->sizes);
    free(work->directories);
    free(work->numbers);
    free(work->parents);
    free(work->of_number);
    free(work->mirrors);
}

static int add_document(void *user, uint32_t number, const struct document_sketch *sketch)
{
    struct mirrors_work *work = user;
    if (!MAKE_ROOM(work->in, work->in_room, number + (size_t)1) ||
        !MAKE_ROOM(work->sizes, work->sizes_room, number + (size_t)1))
        return -ENOMEM;
    work->in[number] = sketch->sketch.n_values > 0;
    work->sizes[number] = sketch->size_bytes;
    return 0;
}

/* -- directories -- */

static bool is_over(void *user)
{
    const struct mirrors_work *work = user;
    return work->context->stop && work->context->stop(work->context->stop_user);
}

/* Once it is over all are equal, so that the sorting soon is, too. */
static int compare_paths(const void *a, const void *b, void *user)
{
    enum { LOOK_EVERY = 1 << 14 };
    struct mirrors_work *work = user;
    const struct tree_batch *tree = &work->tree;
    if (++work->n_compared % LOOK_EVERY == 0)
        work->is_over |= is_over(work);
    if (work->is_over)
        return 0;
    return paths_compare(&tree->paths, &tree->documents[*(const uint32_t *)a],
                         &tree->documents[*(const uint32_t *)b]);
}

/* The number of a directory of the paths; it and those above get theirs with the first document.
 * The root, which has no path, is 0. */
static uint32_t number_of(struct mirrors_work *work, uint32_t directory, uint32_t *n)
{
    uint32_t unknown = 0;
    for (uint32_t i = directory; i != PATHS_NO_DIRECTORY && work->numbers[i] == 0;
         i = paths_directory(&work->tree.paths, i).directory)
        unknown++;
    for (uint32_t at = *n + unknown, i = directory; unknown > 0; unknown--) {
        const uint32_t above = paths_directory(&work->tree.paths, i).directory;
        work->numbers[i] = --at;
        work->of_number[at] = i;
        work->parents[at] = unknown > 1                   ? at - 1
                            : above == PATHS_NO_DIRECTORY ? 0
                                                          : work->numbers[above];
        *n += 1;
        i = above;
    }
    return directory == PATHS_NO_DIRECTORY ? 0 : work->numbers[directory];
}

static int number_directories(struct mirrors_work *work, uint32_t *ret_n)
{
    struct tree_batch *tree = &work->tree;
    const size_t n_all = tree->paths.n_directories + (size_t)1;
    _cleanup_free_ uint32_t *order = malloc((tree->n + (size_t)1) * sizeof(*order));
    work->directories = malloc((tree->n + (size_t)1) * sizeof(*work->directories));
    work->numbers = calloc(n_all, sizeof(*work->numbers));
    work->parents = calloc(n_all, sizeof(*work->parents));
    work->of_number = calloc(n_all, sizeof(*work->of_number));
    if (!order || !work->directories || !work->numbers || !work->parents || !work->of_number)
        return -ENOMEM;
    for (uint32_t i = 0; i < tree->n; i++)
        order[i] = i;
    qsort_r(order, tree->n, sizeof(*order), compare_paths, work);
    if (work->is_over)
        return -EINTR;
    uint32_t n = 1;
    for (uint32_t i = 0; i < tree->n; i++)
        work->directories[order[i]] = number_of(work, tree->documents[order[i]].directory, &n);
    *ret_n = n;
    return 0;
}

/* -- finding -- */

static int add_pair(void *user, uint32_t a, uint32_t b, double resemblance)
{
    struct mirrors_work *work = user;
    (void)resemblance;
    return alike_add_pair(work->alike, a, b);
}

static int find_alike(struct mirrors_work *work)
{
    struct tree_batch *tree = &work->tree;
    int r =
        alike_new(work->directories, tree->classes, work->in, tree->n, work->most, &work->alike);
    if (r == 0)
        r = batch_each_pair(tree->batch, add_pair, work);
    return r == 0 ? alike_finish(work->alike) : r;
}

static int find_mirrors(struct mirrors_work *work, const struct mirrors_least *least)
{
    struct tree_batch *tree = &work->tree;
    struct directory_pairs_input input = {.stop = is_over, .user = work};
    int r = number_directories(work, &input.n_directories);
    if (r == 0)
        r = find_alike(work);
    if (r < 0)
        return r;
    input.parents = work->parents;
    input.directories = work->directories;
    input.sizes = work->sizes;
    input.n_documents = tree->n;
    input.alike = work->alike;
    r = mirrors_find(&input, least, &work->mirrors, &work->n_mirrors);
    return r == -ECANCELED ? -EINTR : r;
}

/* -- telling -- */

static int tell_counts(struct mirrors_work *work)
{
    uint32_t n_common = 0;
    for (uint32_t i = 0; i < work->tree.n; i++)
        n_common += alike_kind(work->alike, i) == ALIKE_COMMON;
    struct json_object *row = json_object_new_object(), *counts = json_object_new_object();
    work_add_count(counts, "documents", work->tree.n);
    work_add_count(counts, "common", n_common);
    json_object_object_add(row, "counts", counts);
    return tree_batch_tell(&work->tree, row);
}

static int add_side(struct mirrors_work *work, struct json_object *row, const char *name,
                    const char *in, const char *of, const struct mirror_side *side)
{
    const struct path place = paths_directory(&work->tree.paths, work->of_number[side->directory]);
    _cleanup_free_ char *path = paths_get(&work->tree.paths, &place);
    if (!path)
        return -ENOMEM;
    struct json_object *counts = json_object_new_object();
    work_add_count(counts, "documents", side->n_documents);
    work_add_count(counts, "common", side->n_common);
    work_add_count(counts, "common_bytes", side->common_bytes);
    json_path_add(row, name, path);
    work_add_ratio(row, in, (double)side->n_common / side->n_documents);
    json_object_object_add(row, of, counts);
    return 0;
}

static int tell_mirror(struct mirrors_work *work, const struct mirror *mirror)
{
    _cleanup_json_ struct json_object *row = json_object_new_object();
    const struct mirror_side *a = &mirror->sides[0], *b = &mirror->sides[1];
    const double common = (double)a->n_common + b->n_common,
                 all = (double)a->n_documents + b->n_documents;
    int r = add_side(work, row, "a", "a_in_b", "of_a", a);
    if (r == 0)
        r = add_side(work, row, "b", "b_in_a", "of_b", b);
    if (r < 0)
        return r;
    work_add_ratio(row, "share", common / all);
    return tree_batch_tell(&work->tree, TAKE_PTR(row));
}

static int tell_all(struct mirrors_work *work)
{
    int r = tell_counts(work);
    for (size_t i = 0; r == 0 && i < work->n_mirrors; i++)
        r = tell_mirror(work, &work->mirrors[i]);
    return r;
}

int work_mirrors(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    const double share = work_number(request, "min", 0);
    const uint64_t most = work_count(request, "most", 0),
                   n_documents = work_count(request, "documents", 0);
    _cleanup_(mirrors_work_done) struct mirrors_work work = {
        .tree = {.row = row,
                 .user = user,
                 .least = work_number(request, "near", 0),
                 .most_compared = MOST_COMPARED,
                 .n_heads = HEADS_FOR_EACH * (uint32_t)most,
                 .add = add_document,
                 .add_user = &work},
        .most = (uint32_t)most,
        .context = context};
    if (json_path_get(request, "a", &work.tree.trees[0]) < 0 || !(share > 0 && share <= 1) ||
        !(work.tree.least > 0 && work.tree.least <= 1) || most < 2 ||
        most > ALIKE_MOST_DIRECTORIES || n_documents < 1 || n_documents > UINT32_MAX)
        return refuse(ret_error, -EINVAL, "the request has no tree, or no bounds of a mirror");
    const struct mirrors_least least = {.share = (uint32_t)lrint(share * MIRRORS_UNITS),
                                        .n_documents = (uint32_t)n_documents};
    int r = tree_batch_run(context, &work.tree);
    if (r == 0)
        r = find_mirrors(&work, &least);
    if (r == 0)
        r = tell_all(&work);
    if (r == -EOVERFLOW)
        return refuse(ret_error, r,
                      "%s: too many pairs of directories have documents in common; name a "
                      "directory, or ask for documents in fewer directories (--most) or of more "
                      "resemblance (--near)",
                      context->source);
    return tree_batch_refuse(context, &work.tree, r, ret_error);
}
