/* kinfs cluster: the clusters of many documents at once, without an index. */
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "tools/commands/cluster/cluster_corpus.h"
#include "tools/commands/cluster/cluster_costs.h"
#include "tools/commands/cluster/cluster_errors.h"
#include "tools/commands/cluster/cluster_list.h"
#include "tools/commands/cluster/cluster_options.h"
#include "tools/commands/cluster/cluster_rows.h"
#include "tools/commands/cluster/cluster_topics.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"
#include "tools/questions/patience.h"
#include "tools/documents/sketch_stream.h"
#include "tools/documents/stored_documents.h"

/* -- the ways to a batch -- */

struct clustering {
    struct cluster_options *options;
    struct document_list list;
    struct stored_documents stored;
    struct cluster_reading reading;
    struct batch *batch;
    struct batch_cost sketch;
    struct progress progress;
    uint32_t n_unread;
};

static void clustering_done(struct clustering *clustering)
{
    stored_documents_done(&clustering->stored);
    batch_free(clustering->batch);
    cluster_reading_done(&clustering->reading);
    document_rules_done(&clustering->options->documents);
    document_list_done(&clustering->list);
}

/* The names have theirs, the batch the rest. */
static int share_memory(struct clustering *clustering, char **ret_error)
{
    struct batch_options *options = &clustering->options->batch;
    uint64_t names = document_list_memory(&clustering->list);
    uint64_t least = names + batch_least_memory(clustering->list.n);
    if (options->memory_bytes < least)
        return refuse(ret_error, -E2BIG, "--memory=%lluM is the least for %s",
                      (unsigned long long)((least + (1 << 20) - 1) >> 20),
                      counted(clustering->list.n, "document").text);
    options->memory_bytes -= names;
    return 0;
}

/* A batch for the documents of the list, whose names remain with what it keeps. */
static int make_batch(struct clustering *clustering, const struct policy *policy, char **ret_error)
{
    struct batch_options *options = &clustering->options->batch;
    options->n_documents = clustering->list.n;
    int r = share_memory(clustering, ret_error);
    if (r < 0)
        return r;
    r = batch_new(policy, options, &clustering->batch);
    if (r == 0 && options->keep)
        r = document_list_save(&clustering->list, options->keep);
    return r < 0 ? cluster_explain(options, r, ret_error) : 0;
}

static int begin_resumed(struct clustering *clustering, char **ret_error)
{
    struct cluster_options *options = clustering->options;
    struct policy unused;
    const char *keep = options->batch.keep;
    int r = batch_kept_documents(keep, &unused, &options->batch.n_documents);
    /* Before the batch, which has the memory that is left, so that another command may be at work
     * there: the batch tells. */
    int loaded = r == 0 ? document_list_load(&clustering->list, keep) : 0;
    if (loaded == -E2BIG)
        return cluster_list_explain(&clustering->list, ret_error);
    if (loaded == 0 && clustering->list.n != options->batch.n_documents)
        loaded = -EUCLEAN;
    if (r == 0 && loaded == 0 && share_memory(clustering, ret_error) < 0)
        return -E2BIG;
    if (r == 0)
        r = batch_resume(&options->batch, options->phase, &clustering->batch);
    if (r == 0)
        r = loaded;
    if (r < 0)
        return cluster_explain_kept(&options->batch, r, ret_error);
    enum batch_phase begin = batch_begins_with(clustering->batch);
    if (begin != options->phase)
        complain("--phase=%s: what it takes is not kept; beginning with %s, before it",
                 batch_phase_name(options->phase), batch_phase_name(begin));
    return 0;
}

static int begin_stored(struct clustering *clustering, char **ret_error)
{
    struct cluster_options *options = clustering->options;
    const char *path = options->n_paths ? options->paths[0] : NULL;
    int r = stored_documents_open(path, options->store, &clustering->list, &clustering->stored,
                                  ret_error);
    if (r == -E2BIG)
        return cluster_list_explain(&clustering->list, ret_error);
    if (r == 0)
        r = make_batch(clustering, stored_documents_policy(&clustering->stored), ret_error);
    if (r < 0)
        return r;
    r = stored_documents_add(&clustering->stored, clustering->batch);
    return r < 0 ? cluster_explain(&options->batch, r, ret_error) : 0;
}

/* The documents, and how to sketch them. */
static int list_for_stream(struct clustering *clustering, struct policy *ret_policy,
                           char **ret_error)
{
    struct cluster_options *options = clustering->options;
    int r = cluster_options_policy(options, ret_policy);
    if (r < 0)
        return r;
    if (!options->resketches)
        return cluster_list_documents(options, &clustering->reading.documents, &clustering->list,
                                      ret_error);
    struct policy kept;
    uint32_t unused;
    r = batch_kept_documents(options->batch.keep, &kept, &unused);
    if (r == 0 && !options->policy)
        *ret_policy = kept;
    if (r == 0 || r == -ENOENT || r == -EUCLEAN) /* sketches there need not be */
        r = document_list_load(&clustering->list, options->batch.keep);
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: no names of documents there; name them, without --phase",
                      options->batch.keep);
    if (r == -E2BIG)
        return cluster_list_explain(&clustering->list, ret_error);
    return r < 0 ? cluster_explain_kept(&options->batch, r, ret_error) : 0;
}

static int begin_stream(struct clustering *clustering, char **ret_error)
{
    struct cluster_options *options = clustering->options;
    struct policy policy;
    int r = cluster_reading_begin(options, &clustering->reading, ret_error);
    if (r == 0)
        r = list_for_stream(clustering, &policy, ret_error);
    if (r == 0)
        r = make_batch(clustering, &policy, ret_error);
    if (r < 0)
        return r;
    struct sketch_stream stream = {.list = &clustering->list,
                                   .policy = &policy,
                                   .extractors = clustering->reading.extractors,
                                   .batch = clustering->batch,
                                   .progress = &clustering->progress};
    r = sketch_stream_run(&stream);
    if (r < 0)
        return cluster_explain(&options->batch, r, ret_error);
    clustering->n_unread = stream.n_unread + clustering->list.n_unread;
    clustering->sketch = (struct batch_cost){
        .wall_s = stream.wall_s, .cpu_s = stream.cpu_s, .read_bytes = stream.n_bytes};
    return 0;
}

static char *name_of(void *user, uint32_t number, const char **ret_member)
{
    (void)ret_member;
    return document_list_path(user, number);
}

static int cluster(struct cluster_options *options, char **ret_error)
{
    _cleanup_(clustering_done) struct clustering clustering = {
        .options = options, .list.most_bytes = options->batch.memory_bytes};
    if (options->batch.keep)
        patience_look(options->batch.keep);
    int r = cluster_options_use(options, &clustering.progress, ret_error);
    if (r < 0)
        return r;
    r = options->resumes  ? begin_resumed(&clustering, ret_error)
        : options->stored ? begin_stored(&clustering, ret_error)
                          : begin_stream(&clustering, ret_error);
    if (r < 0)
        return r;
    r = batch_run(clustering.batch);
    progress_done(&clustering.progress);
    if (r < 0)
        return cluster_explain_kept(&options->batch, r, ret_error);
    const struct cluster_rows rows = {options, clustering.list.n, batch_clusters(clustering.batch),
                                      name_of, &clustering.list};
    struct cluster_rows_printed printed;
    r = cluster_rows_print(&rows, &printed);
    if (r < 0)
        return r;
    const struct batch_totals *totals = batch_totals(clustering.batch);
    clustering.sketch.written_bytes = totals->sketch_written_bytes;
    if (options->costs)
        cluster_costs_print(&clustering.sketch, totals, options->json);
    if (clustering.n_unread)
        return refuse(ret_error, -EIO, "%u of the documents could not be read",
                      clustering.n_unread);
    return printed.n_clusters ? 0 : -ENODATA;
}

int cmd_cluster(int argc, char **argv)
{
    struct cluster_options options;
    _cleanup_free_ char *error = NULL;
    cluster_options_parse(argc, argv, &options);
    int r = options.jsonl    ? cluster_corpus(&options, &error)
            : options.topics ? cluster_topics(&options, &error)
                             : cluster(&options, &error);
    return command_end(r, error);
}
