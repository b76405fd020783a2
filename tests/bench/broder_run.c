#include "tests/bench/broder_run.h"

#include <errno.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "engine/cluster/large/parallel.h"

enum { DOCUMENTS_AT_ONCE = 256 }; /* their text stays in the cache, and the clock costs nothing */

struct stream {
    const struct planted *planted;
    const struct policy *policy;
    const struct shingle_hash *hash;
    struct batch *batch;
    uint32_t n_documents, next;
    pthread_mutex_t mutex; /* guards what follows */
    struct broder_result *result;
};

struct worker {
    struct document_sketcher *sketcher;
    struct batch_writer *writer;
    char *text;
    size_t ends[DOCUMENTS_AT_ONCE];
};

static void worker_done(struct worker *worker)
{
    document_sketcher_free(worker->sketcher);
    batch_writer_free(worker->writer);
    free(worker->text);
}

static int worker_init(const struct stream *stream, struct worker *worker)
{
    worker->text = malloc(DOCUMENTS_AT_ONCE * planted_most_bytes(stream->planted));
    if (!worker->text)
        return -ENOMEM;
    int r = document_sketcher_new(stream->policy, stream->hash, &worker->sketcher);
    return r < 0 ? r : batch_writer_new(stream->batch, &worker->writer);
}

static void generate(const struct stream *stream, struct worker *worker, uint32_t first, uint32_t n)
{
    size_t end = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct planted_document document;
        planted_describe(stream->planted, first + i, &document);
        end += planted_write(stream->planted, &document, worker->text + end);
        worker->ends[i] = end;
    }
}

static int sketch(struct worker *worker, uint32_t first, uint32_t n)
{
    int r = 0;
    for (uint32_t i = 0; r == 0 && i < n; i++) {
        size_t begin = i ? worker->ends[i - 1] : 0;
        struct document_sketch sketch;
        document_sketcher_begin(worker->sketcher);
        document_sketcher_feed(worker->sketcher, worker->text + begin, worker->ends[i] - begin);
        document_sketcher_finish(worker->sketcher, &sketch);
        r = batch_writer_add(worker->writer, first + i, &sketch);
    }
    return r;
}

static int stream_documents(void *user, unsigned thread, const bool *stop)
{
    struct stream *stream = user;
    _cleanup_(worker_done) struct worker worker = {0};
    double generate_s = 0, sketch_s = 0;
    uint64_t bytes = 0;
    (void)thread;
    int r = worker_init(stream, &worker);
    while (r == 0 && !parallel_stopped(stop)) {
        uint64_t first = (uint64_t)DOCUMENTS_AT_ONCE * parallel_next(&stream->next);
        if (first >= stream->n_documents)
            break;
        uint64_t left = stream->n_documents - first;
        uint32_t n = left < DOCUMENTS_AT_ONCE ? (uint32_t)left : DOCUMENTS_AT_ONCE;
        double begin_s = parallel_cpu_s();
        generate(stream, &worker, (uint32_t)first, n);
        double generated_s = parallel_cpu_s();
        r = sketch(&worker, (uint32_t)first, n);
        generate_s += generated_s - begin_s;
        sketch_s += parallel_cpu_s() - generated_s;
        bytes += worker.ends[n - 1];
    }
    if (r == 0)
        r = batch_writer_flush(worker.writer);
    LOCKED(&stream->mutex);
    stream->result->generate_cpu_s += generate_s;
    stream->result->sketch_cpu_s += sketch_s;
    stream->result->text_bytes += bytes;
    return r;
}

const double broder_resemblances[BRODER_N_RESEMBLANCES] = {0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1};
const uint32_t broder_lengths[BRODER_N_LENGTHS] = {0, 300, 1000};

/* Which links are found. */
static void check_links(const struct planted *planted, const uint32_t *clusters, uint32_t n,
                        struct broder_result *result)
{
    for (uint32_t i = 0; i < n; i++) {
        struct planted_document document, parent;
        unsigned at = BRODER_N_RESEMBLANCES - 1, length = BRODER_N_LENGTHS - 1;
        planted_describe(planted, i, &document);
        uint32_t other = planted_number(planted, document.cluster, planted_parent(&document));
        if (other == i)
            continue;
        planted_describe(planted, other, &parent);
        struct planted_shingles shingles = planted_compare(planted, &document, &parent);
        double resemblance = planted_resemblance(planted, &document, &parent);
        uint32_t larger = shingles.a > shingles.b ? shingles.a : shingles.b;
        while (resemblance < broder_resemblances[at])
            at--;
        while (larger < broder_lengths[length])
            length--;
        result->links[at][length].n_links++;
        result->links[at][length].n_found += clusters[i] == clusters[other];
    }
}

/* The policy has a key that is always the same. */
static int get_policy(struct policy *ret_policy)
{
    int r = policy_preset("broder1997", ret_policy);
    memset(ret_policy->key, 97, sizeof(ret_policy->key));
    return r;
}

static int stream_all(const struct batch_options *options, const struct policy *policy,
                      const struct planted *planted, struct batch *batch,
                      struct broder_result *result)
{
    _cleanup_(shingle_hash_free_p) struct shingle_hash *hash = NULL;
    int r = shingle_hash_new(policy, &hash);
    if (r < 0)
        return r;
    struct stream stream = {
        planted, policy, hash, batch, options->n_documents, 0, PTHREAD_MUTEX_INITIALIZER, result};
    double unused = 0;
    int64_t begin_us = clock_now_us();
    r = parallel_run(batch_n_writers(batch), stream_documents, &stream, &unused);
    result->stream_wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    return r;
}

static int run(const struct batch_options *options, uint64_t seed, bool resume,
               struct broder_result *ret_result)
{
    struct policy policy;
    struct broder_result result = {0};
    _cleanup_(planted_free_p) struct planted *planted = NULL;
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    int r = get_policy(&policy);
    if (r == 0)
        r = planted_new(seed, options->n_documents, policy.w, &planted);
    int64_t begin_us = clock_now_us();
    if (r == 0 && resume) {
        r = batch_resume(options, BATCH_DUPLICATES, &batch);
    } else if (r == 0) {
        r = batch_new(&policy, options, &batch);
        if (r == 0)
            r = stream_all(options, &policy, planted, batch, &result);
    }
    if (r == 0)
        r = batch_run(batch);
    if (r < 0)
        return r;
    result.all_wall_s = (double)(clock_now_us() - begin_us) * 1e-6;
    result.totals = *batch_totals(batch);
    result.check = planted_check(planted, batch_clusters(batch), 0.6);
    result.digest = XXH3_64bits(batch_clusters(batch), options->n_documents * sizeof(uint32_t));
    if (options->n_documents <= BRODER_MOST_LISTED)
        check_links(planted, batch_clusters(batch), options->n_documents, &result);
    *ret_result = result;
    return 0;
}

int broder_run(const struct batch_options *options, uint64_t seed, struct broder_result *ret_result)
{
    return run(options, seed, false, ret_result);
}

int broder_resume(const struct batch_options *options, uint64_t seed,
                  struct broder_result *ret_result)
{
    return run(options, seed, true, ret_result);
}
