#include "tools/commands/pairs/tree_batch.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "tools/commands/command.h"

enum {
    WORK_BYTES = 64 << 20, /* beside what a batch needs for each document */
    LEAST_KEYS = 16,
    MOST_THREADS = 8,
    TOLD_EVERY = 4096, /* documents */
    CAME_MEANWHILE = 1024,
};

/* The share that is not found, of pairs of documents that resemble each other by the least that is
 * asked for.
 */
static const double MISSED = 0.0001;

void tree_batch_done(struct tree_batch *tree)
{
    batch_writer_free(tree->writer);
    batch_free(tree->batch);
    paths_done(&tree->paths);
    free(tree->documents);
    free(tree->sides);
    for (unsigned i = 0; i < 2; i++)
        free(tree->trees[i]);
}

int tree_batch_tell(struct tree_batch *tree, struct json_object *row)
{
    if (tree->told == 0)
        tree->told = tree->row(tree->user, row);
    else
        json_object_put(row);
    return tree->told;
}

int tree_batch_tell_progress(struct tree_batch *tree, const char *phase, uint32_t done, uint32_t of)
{
    struct json_object *row = json_object_new_object(), *progress = json_object_new_object();
    json_object_object_add(progress, "phase", json_object_new_string(phase));
    work_add_count(progress, "done", done);
    work_add_count(progress, "of", of);
    json_object_object_add(row, "progress", progress);
    return tree_batch_tell(tree, row);
}

static bool is_below(const char *path, const char *tree)
{
    const size_t n = strlen(tree);
    return n == 0 || (strncmp(path, tree, n) == 0 && (path[n] == '/' || !path[n]));
}

/* 0: it is not asked about. */
static uint8_t side_of(const struct tree_batch *tree, const char *path)
{
    if (is_below(path, tree->trees[0]))
        return 1;
    return tree->trees[1] && is_below(path, tree->trees[1]) ? 2 : 0;
}

static int add_sketch(void *user, const char *path, const struct document_sketch *sketch)
{
    struct tree_batch *tree = user;
    const uint8_t side = side_of(tree, path);
    if (!side || tree->n == tree->most)
        return 0;
    int r = paths_put(&tree->paths, path, &tree->documents[tree->n]);
    tree->sides[tree->n] = side;
    if (r == 0 && tree->add)
        r = tree->add(tree->add_user, tree->n, sketch);
    if (r == 0)
        r = batch_writer_add(tree->writer, tree->n++, sketch);
    if (r == 0 && tree->n % TOLD_EVERY == 0)
        r = tree_batch_tell_progress(tree, "read", tree->n, tree->most);
    return r;
}

static int read_sketches(const struct work_context *context, struct tree_batch *tree)
{
    int r = batch_writer_new(tree->batch, &tree->writer);
    if (r == 0)
        r = index_each_sketch(context->index, add_sketch, tree);
    return r == 0 ? batch_writer_flush(tree->writer) : r;
}

static void show_progress(void *user, enum batch_phase phase, uint32_t done, uint32_t of)
{
    struct tree_batch *tree = user;
    if (tree_batch_tell_progress(tree, batch_phase_name(phase), done, of) < 0)
        __atomic_store_n(&tree->stop, true, __ATOMIC_RELAXED);
}

/* As many of the smallest fingerprints as let so few pairs have none of them in common. */
static uint32_t keys_of(double least, uint32_t s)
{
    const double n = least < 1 ? ceil(log(MISSED) / log1p(-least)) : 1;
    return n < LEAST_KEYS ? LEAST_KEYS : n < s ? (uint32_t)n : s;
}

static int make_batch(const struct work_context *context, struct tree_batch *tree)
{
    const struct policy *policy = index_policy(context->index);
    const long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct index_status status;
    index_get_status(context->index, &status);
    const uint64_t most = status.documents + CAME_MEANWHILE; /* more came after the question */
    if (most > RESEMBLING_MOST_DOCUMENTS)
        return -E2BIG;
    tree->most = (uint32_t)most;
    tree->documents = malloc(most * sizeof(*tree->documents));
    tree->sides = malloc(most);
    if (!tree->documents || !tree->sides)
        return -ENOMEM;
    const struct batch_options options = {
        .scratch = context->store,
        .memory_bytes = batch_least_memory(tree->most) + WORK_BYTES,
        .n_threads = n_processors < 1              ? 1
                     : n_processors < MOST_THREADS ? (unsigned)n_processors
                                                   : MOST_THREADS,
        .mode = BATCH_FAST,
        .whole = true,
        .pairs = true,
        .sides = tree->trees[1] ? tree->sides : NULL,
        .threshold = tree->least,
        .n_documents = tree->most,
        .n_keys = keys_of(tree->least, policy->s),
        .most_compared = tree->most_compared,
        .n_heads = tree->n_heads,
        .progress = show_progress,
        .user = tree,
        .stop = &tree->stop,
    };
    return batch_new(policy, &options, &tree->batch);
}

int tree_batch_run(const struct work_context *context, struct tree_batch *tree)
{
    work_catch_up(context);
    int r = make_batch(context, tree);
    if (r == 0)
        r = read_sketches(context, tree);
    if (r == 0)
        r = batch_run(tree->batch);
    if (r == 0)
        tree->classes = batch_clusters(tree->batch);
    return r;
}

int tree_batch_refuse(const struct work_context *context, const struct tree_batch *tree, int code,
                      char **ret_error)
{
    if (code == -ECANCELED && tree->told)
        code = tree->told;
    if (code == -E2BIG)
        return refuse(ret_error, code, "more than %d documents; name directories of the tree",
                      RESEMBLING_MOST_DOCUMENTS);
    if (code == -ENOSPC || code == -EDQUOT)
        return refuse(ret_error, code, "%s: no room for the pairs; make room there",
                      context->store);
    return code < 0 ? refuse(ret_error, code, "%s: %s", context->store, error_text(code)) : 0;
}
