/* What the index is asked by kinfs pairs: all sketches go to a batch, which gives the pairs. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/room.h"
#include "engine/cluster/batch.h"
#include "tools/commands/command.h"
#include "tools/documents/document_list.h"
#include "tools/documents/paths.h"
#include "tools/show/json_path.h"

enum {
    WORK_BYTES = 64 << 20, /* beside what a batch needs for each document */
    LEAST_KEYS = 16,
    MOST_COMPARED = 16384, /* as kinfs cluster --mode=exact */
    MOST_THREADS = 8,
    TOLD_EVERY = 4096, /* documents */
    CAME_MEANWHILE = 1024,
};

/* Of two documents that resemble each other by the least that is asked for so many are not found.
 */
static const double MISSED = 0.0001;

struct pairs_work {
    row_fn row;
    void *user;
    int told;  /* what the row function returned last */
    bool stop; /* nobody listens any more; by atomic operations */
    struct paths paths;
    struct path *documents;
    uint8_t *sides; /* of a document 1 or 2 */
    uint32_t n, most;
    char *trees[2]; /* what is asked about; with the second, pairs of one in each */
    bool all;
    struct batch_writer *writer;
    const uint32_t *classes;
    /* By the first document of a class: its first ones of each side, and how many it has; by
     * document the next one of the class. UINT32_MAX: none */
    uint32_t *first[2], *sizes, *next;
};

static void pairs_work_done(struct pairs_work *work)
{
    batch_writer_free(work->writer);
    paths_done(&work->paths);
    free(work->documents);
    free(work->sides);
    free(work->next);
    free(work->sizes);
    for (unsigned i = 0; i < 2; i++) {
        free(work->trees[i]);
        free(work->first[i]);
    }
}

static int tell(struct pairs_work *work, struct json_object *row)
{
    if (work->told == 0)
        work->told = work->row(work->user, row);
    else
        json_object_put(row);
    return work->told;
}

static int tell_progress(struct pairs_work *work, const char *phase, uint32_t done, uint32_t of)
{
    struct json_object *row = json_object_new_object(), *progress = json_object_new_object();
    json_object_object_add(progress, "phase", json_object_new_string(phase));
    work_add_count(progress, "done", done);
    work_add_count(progress, "of", of);
    json_object_object_add(row, "progress", progress);
    return tell(work, row);
}

/* -- reading -- */

static bool is_below(const char *path, const char *tree)
{
    const size_t n = strlen(tree);
    return n == 0 || (strncmp(path, tree, n) == 0 && (path[n] == '/' || !path[n]));
}

/* 0: it is not asked about. */
static uint8_t side_of(const struct pairs_work *work, const char *path)
{
    if (is_below(path, work->trees[0]))
        return 1;
    return work->trees[1] && is_below(path, work->trees[1]) ? 2 : 0;
}

static int add_sketch(void *user, const char *path, const struct document_sketch *sketch)
{
    struct pairs_work *work = user;
    const uint8_t side = side_of(work, path);
    if (!side || work->n == work->most)
        return 0;
    int r = paths_put(&work->paths, path, &work->documents[work->n]);
    work->sides[work->n] = side;
    if (r == 0)
        r = batch_writer_add(work->writer, work->n++, sketch);
    if (r == 0 && work->n % TOLD_EVERY == 0)
        r = tell_progress(work, "read", work->n, work->most);
    return r;
}

static int read_sketches(const struct work_context *context, struct pairs_work *work,
                         struct batch *batch)
{
    int r = batch_writer_new(batch, &work->writer);
    if (r == 0)
        r = index_each_sketch(context->index, add_sketch, work);
    return r == 0 ? batch_writer_flush(work->writer) : r;
}

static void show_progress(void *user, enum batch_phase phase, uint32_t done, uint32_t of)
{
    struct pairs_work *work = user;
    if (tell_progress(work, batch_phase_name(phase), done, of) < 0)
        __atomic_store_n(&work->stop, true, __ATOMIC_RELAXED);
}

/* As many of the smallest fingerprints as let so few pairs have none of them in common. */
static uint32_t keys_of(double least, uint32_t s)
{
    const double n = least < 1 ? ceil(log(MISSED) / log1p(-least)) : 1;
    return n < LEAST_KEYS ? LEAST_KEYS : n < s ? (uint32_t)n : s;
}

static int make_batch(const struct work_context *context, double least, struct pairs_work *work,
                      struct batch **ret_batch)
{
    const struct policy *policy = index_policy(context->index);
    const long n_processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct index_status status;
    index_get_status(context->index, &status);
    const uint64_t most = status.documents + CAME_MEANWHILE; /* more came after the question */
    if (most > RESEMBLING_MOST_DOCUMENTS)
        return -E2BIG;
    work->most = (uint32_t)most;
    work->documents = malloc(most * sizeof(*work->documents));
    work->sides = malloc(most);
    if (!work->documents || !work->sides)
        return -ENOMEM;
    const struct batch_options options = {
        .scratch = context->store,
        .memory_bytes = batch_least_memory(work->most) + WORK_BYTES,
        .n_threads = n_processors < 1              ? 1
                     : n_processors < MOST_THREADS ? (unsigned)n_processors
                                                   : MOST_THREADS,
        .mode = BATCH_FAST,
        .whole = true,
        .pairs = true,
        .sides = work->trees[1] ? work->sides : NULL,
        .threshold = least,
        .n_documents = work->most,
        .n_keys = keys_of(least, policy->s),
        .most_compared = MOST_COMPARED,
        .progress = show_progress,
        .user = work,
        .stop = &work->stop,
    };
    return batch_new(policy, &options, ret_batch);
}

/* -- telling -- */

static int tell_pair(struct pairs_work *work, uint32_t i, uint32_t j, double resemblance)
{
    _cleanup_free_ char *a = paths_get(&work->paths, &work->documents[i]);
    _cleanup_free_ char *b = paths_get(&work->paths, &work->documents[j]);
    if (!a || !b)
        return -ENOMEM;
    const bool turned = work->trees[1] ? work->sides[i] == 2 : document_list_compare(a, b) > 0;
    struct json_object *row = json_object_new_object();
    json_path_add(row, "a", turned ? b : a);
    json_path_add(row, "b", turned ? a : b);
    work_add_ratio(row, "resemblance", resemblance);
    return tell(work, row);
}

/* All pairs of a document of one class and one of the other, or of the same. */
static int tell_all(struct pairs_work *work, uint32_t a, uint32_t b, double resemblance)
{
    int r = 0;
    for (uint32_t i = a; r == 0 && i != UINT32_MAX; i = work->next[i])
        for (uint32_t j = a == b ? work->next[i] : b; r == 0 && j != UINT32_MAX; j = work->next[j])
            if (!work->trees[1] || work->sides[i] != work->sides[j])
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
    if (!work->trees[1])
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
        const unsigned other = work->trees[1] ? 2 - work->sides[i] : 0;
        const uint32_t first = work->first[other][class];
        /* Of the two first ones the pair is told once. */
        if (first != UINT32_MAX && i != work->first[0][class])
            r = tell_pair(work, first, i, 1);
    }
    return r;
}

static int index_classes(struct pairs_work *work)
{
    const size_t bytes = (work->n + (size_t)1) * sizeof(uint32_t);
    uint32_t **const arrays[] = {&work->first[0], &work->first[1], &work->next, &work->sizes};
    for (unsigned i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        *arrays[i] = malloc(bytes);
        if (!*arrays[i])
            return -ENOMEM;
        memset(*arrays[i], i < 3 ? 0xff : 0, bytes);
    }
    for (uint32_t i = work->n; i-- > 0;) {
        const uint32_t class = work->classes[i];
        work->first[work->sides[i] == 2][class] = i;
        work->sizes[class]++;
        if (class == i)
            continue;
        work->next[i] = work->next[class];
        work->next[class] = i;
    }
    return 0;
}

static int tell_counts(struct pairs_work *work, const struct batch *batch)
{
    uint32_t n_equal = 0;
    for (uint32_t i = 0; i < work->n; i++)
        n_equal += work->classes[i] != i;
    struct json_object *row = json_object_new_object(), *counts = json_object_new_object();
    work_add_count(counts, "documents", work->n);
    work_add_count(counts, "equal", n_equal);
    work_add_count(counts, "shortened", batch_totals(batch)->lists.n_shortened);
    json_object_object_add(row, "counts", counts);
    return tell(work, row);
}

static int tell_all_pairs(struct pairs_work *work, struct batch *batch)
{
    work->classes = batch_clusters(batch);
    int r = index_classes(work);
    if (r == 0)
        r = tell_counts(work, batch);
    for (uint32_t i = 0; r == 0 && i < work->n; i++)
        if (work->sizes[i] > 1)
            r = tell_equal(work, i);
    return r == 0 ? batch_each_pair(batch, tell_classes, work) : r;
}

int work_pairs(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error)
{
    _cleanup_(pairs_work_done) struct pairs_work work = {
        .row = row, .user = user, .all = work_flag(request, "all")};
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    const double least = work_number(request, "min", 0);
    if (json_path_get(request, "a", &work.trees[0]) < 0 || !(least > 0 && least <= 1))
        return refuse(ret_error, -EINVAL, "the request has no tree or no least resemblance");
    (void)json_path_get(request, "b", &work.trees[1]);
    work_catch_up(context);
    int r = make_batch(context, least, &work, &batch);
    if (r == 0)
        r = read_sketches(context, &work, batch);
    if (r == 0)
        r = batch_run(batch);
    if (r == 0)
        r = tell_all_pairs(&work, batch);
    batch_writer_free(TAKE_PTR(work.writer)); /* before the batch */
    if (r == -ECANCELED)
        r = work.told;
    if (r == -E2BIG)
        return refuse(ret_error, r, "more than %d documents; name directories of the tree",
                      RESEMBLING_MOST_DOCUMENTS);
    if (r == -ENOSPC || r == -EDQUOT)
        return refuse(ret_error, r, "%s: no room for the pairs; make room there", context->store);
    return r < 0 ? refuse(ret_error, r, "%s: %s", context->store, error_text(r)) : 0;
}
