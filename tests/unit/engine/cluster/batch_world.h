/* Sketches of documents, planted and real, and clusters of them found by comparing all pairs.
 * Included by tests only. */
#ifndef KINFS_TESTS_UNIT_ENGINE_CLUSTER_BATCH_WORLD_H
#define KINFS_TESTS_UNIT_ENGINE_CLUSTER_BATCH_WORLD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <string.h>

#include "engine/cluster/batch.h"
#include "tests/lib/documents/planted.h"

struct world {
    struct policy policy;
    struct shingle_hash *hash;
    struct document_sketcher *sketcher;
    struct document_sketch *documents; /* their values are copies */
    uint32_t n, room;
};

static inline struct policy preset(const char *name)
{
    struct policy policy;
    assert_int_equal(policy_preset(name, &policy), 0);
    return policy;
}

static inline void world_begin(struct world *world, const struct policy *policy)
{
    *world = (struct world){.policy = *policy};
    memset(world->policy.key, 42, sizeof(world->policy.key)); /* the same in every run */
    assert_int_equal(shingle_hash_new(&world->policy, &world->hash), 0);
    assert_int_equal(document_sketcher_new(&world->policy, world->hash, &world->sketcher), 0);
}

static inline void world_end(struct world *world)
{
    for (uint32_t i = 0; i < world->n; i++)
        min_sketch_done(&world->documents[i].sketch);
    free(world->documents);
    document_sketcher_free(world->sketcher);
    shingle_hash_free(world->hash);
}

static inline void world_add(struct world *world, const void *bytes, size_t size_bytes)
{
    if (world->n == world->room) {
        world->room = world->room ? 2 * world->room : 1024;
        world->documents = reallocarray(world->documents, world->room, sizeof(*world->documents));
        assert_non_null(world->documents);
    }
    struct document_sketch *document = &world->documents[world->n++];
    struct min_sketch copy;
    document_sketcher_begin(world->sketcher);
    document_sketcher_feed(world->sketcher, bytes, size_bytes);
    document_sketcher_finish(world->sketcher, document);
    assert_int_equal(min_sketch_copy(&document->sketch, &copy), 0);
    document->sketch = copy;
}

static inline void world_add_planted(struct world *world, const struct planted *planted,
                                     uint32_t first, uint32_t n)
{
    char *text = malloc(planted_most_bytes(planted));
    assert_non_null(text);
    for (uint32_t i = first; i < first + n; i++) {
        struct planted_document document;
        planted_describe(planted, i, &document);
        world_add(world, text, planted_write(planted, &document, text));
    }
    free(text);
}

static struct world *visited;
static uint32_t most_visited;

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F || !S_ISREG(st->st_mode) || st->st_size > 1 << 20)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = malloc((size_t)st->st_size + 1);
    ssize_t n = fd >= 0 && bytes ? read(fd, bytes, (size_t)st->st_size) : -1;
    if (n >= 0)
        world_add(visited, bytes, (size_t)n);
    free(bytes);
    if (fd >= 0)
        close(fd);
    return visited->n >= most_visited;
}

/* The files of a directory, as many as may be. */
static inline void world_add_tree(struct world *world, const char *directory, uint32_t most)
{
    visited = world;
    most_visited = world->n + most;
    nftw(directory, visit, 16, FTW_PHYS);
}

/* -- a batch -- */

/* Of the least memory and 64 MiB, by two threads. */
static inline struct batch_options world_options(const char *scratch, uint32_t n_documents,
                                                 enum batch_mode mode, double threshold)
{
    return (struct batch_options){.scratch = scratch,
                                  .memory_bytes = batch_least_memory(n_documents) + (64 << 20),
                                  .n_threads = 2,
                                  .mode = mode,
                                  .threshold = threshold,
                                  .n_documents = n_documents};
}

/* What comes of it, of all documents, added by one writer. */
static inline struct batch *world_batch(const struct world *world,
                                        const struct batch_options *options)
{
    struct batch *batch;
    _cleanup_(batch_writer_free_p) struct batch_writer *writer = NULL;
    assert_int_equal(batch_new(&world->policy, options, &batch), 0);
    assert_int_equal(batch_writer_new(batch, &writer), 0);
    for (uint32_t i = 0; i < world->n; i++)
        assert_int_equal(batch_writer_add(writer, i, &world->documents[i]), 0);
    assert_int_equal(batch_writer_flush(writer), 0);
    assert_int_equal(batch_run(batch), 0);
    return batch;
}

/* Add all documents, by as many writers as there are threads, in one order or the other. */
static inline int world_try_batch(const struct world *world, const struct batch_options *options,
                                  bool reverse, struct batch **ret_batch)
{
    struct batch_writer *writers[4];
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    int r = batch_new(&world->policy, options, &batch);
    if (r < 0)
        return r;
    unsigned n_writers = batch_n_writers(batch);
    assert_in_range(n_writers, 1, options->n_threads);
    for (unsigned i = 0; i < n_writers; i++)
        assert_int_equal(batch_writer_new(batch, &writers[i]), 0);
    for (uint32_t i = 0; r == 0 && i < world->n; i++) {
        uint32_t number = reverse ? world->n - 1 - i : i;
        r = batch_writer_add(writers[i % n_writers], number, &world->documents[number]);
    }
    for (unsigned i = 0; i < n_writers; i++) {
        if (r == 0)
            r = batch_writer_flush(writers[i]);
        batch_writer_free(writers[i]);
    }
    if (r == 0)
        r = batch_run(batch);
    if (r == 0)
        *ret_batch = TAKE_PTR(batch);
    return r;
}

static inline struct batch *world_batch_together(const struct world *world,
                                                 const struct batch_options *options)
{
    struct batch *batch = NULL;
    assert_int_equal(world_try_batch(world, options, false, &batch), 0);
    return batch;
}

static inline void expect_clusters(const struct batch *batch, const uint32_t *expected, uint32_t n)
{
    const uint32_t *clusters = batch_clusters(batch);
    for (uint32_t i = 0; i < n; i++)
        if (clusters[i] != expected[i])
            fail_msg("document %u of %u: cluster %u, expected %u", i, n, clusters[i], expected[i]);
}

/* -- the slow and simple way -- */

static inline bool same_fingerprint(const struct document_sketch *a,
                                    const struct document_sketch *b)
{
    return memcmp(a->shingle_fingerprint, b->shingle_fingerprint, FINGERPRINT_BYTES) == 0;
}

/* Two without a shingle: of the same bytes. */
static inline bool same_content(const struct document_sketch *a, const struct document_sketch *b)
{
    return a->sketch.n_values == 0 && b->sketch.n_values == 0 &&
           memcmp(a->content_fingerprint, b->content_fingerprint, FINGERPRINT_BYTES) == 0;
}

typedef bool (*resembles_fn)(const struct document_sketch *a, const struct document_sketch *b,
                             void *user);

/* All pairs, none left out; a cluster is known by its smallest document, by relabelling. */
static inline uint32_t *world_clusters(const struct world *world, resembles_fn resembles,
                                       void *user)
{
    uint32_t *cluster = calloc(world->n + 1, sizeof(*cluster));
    assert_non_null(cluster);
    for (uint32_t i = 0; i < world->n; i++) {
        cluster[i] = i;
        for (uint32_t j = 0; j < i; j++) {
            if (!resembles(&world->documents[i], &world->documents[j], user))
                continue;
            uint32_t a = cluster[i], b = cluster[j], keep = a < b ? a : b, drop = a < b ? b : a;
            for (uint32_t k = 0; keep != drop && k <= i; k++)
                cluster[k] = cluster[k] == drop ? keep : cluster[k];
        }
    }
    return cluster;
}

static inline bool reaches(const struct document_sketch *a, const struct document_sketch *b,
                           void *threshold)
{
    struct estimate estimate;
    return same_content(a, b) || (min_sketch_resemblance(&a->sketch, &b->sketch, &estimate) == 0 &&
                                  estimate.value >= *(double *)threshold);
}

#endif
