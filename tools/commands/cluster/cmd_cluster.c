/* kinfs cluster: the clusters of many documents at once, without an index. */
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/escape.h"
#include "base/files/trust.h"
#include "tools/commands/cluster/cluster_corpus.h"
#include "tools/commands/cluster/cluster_costs.h"
#include "tools/commands/cluster/cluster_errors.h"
#include "tools/commands/cluster/cluster_options.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"
#include "tools/questions/patience.h"
#include "tools/documents/sketch_stream.h"
#include "tools/documents/stored_documents.h"

/* -- reading -- */

/* The argument is a list of lines rather than a path, which may have such characters. Of lines that
 * are taken for names another user's mount may be asked, whose server need not answer. */
static bool has_lines(const char *path)
{
    if (!path[0] || path[strlen(path) - 1] != '\n')
        return false;
    patience_look(path);
    _cleanup_close_ int fd = trust_open_anywhere(path, NULL);
    return fd < 0;
}

/* The error that adding to the list ended by. */
static int explain_names(const struct document_list *list, char **ret_error)
{
    return refuse(ret_error, -E2BIG, "--memory=%lluM has no room for the names of more than %s",
                  (unsigned long long)(list->most_bytes >> 20), counted(list->n, "document").text);
}

static int list_documents(const struct cluster_options *options, const struct document_rules *rules,
                          struct document_list *list, char **ret_error)
{
    if (options->reads_list) {
        int r = document_list_read(list, stdin);
        if (r == -E2BIG)
            return explain_names(list, ret_error);
        if (r == -ENAMETOOLONG)
            return refuse(ret_error, r,
                          "the list on standard input has no NUL within a mebibyte; it takes one "
                          "behind each path, as find -print0 writes it");
        if (r < 0)
            return refuse(ret_error, r, "the list on standard input: %s", strerror(-r));
        _cleanup_free_ char *first = list->n == 1 ? document_list_path(list, 0) : NULL;
        if (first && has_lines(first))
            return refuse(ret_error, -EINVAL,
                          "the list on standard input has lines; it takes a NUL behind each path, "
                          "as find -print0 writes it");
        return 0;
    }
    size_t failed;
    int r = document_list_add(list, options->paths, options->n_paths, options->batch.keep, rules,
                              &failed);
    const char *path = r < 0 && failed < options->n_paths ? options->paths[failed] : "";
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: no such file; correct the name", path);
    if (r == -EINVAL)
        return refuse(ret_error, r, "%s: neither a file nor a directory", path);
    if (r == -E2BIG)
        return explain_names(list, ret_error);
    return r < 0 ? refuse(ret_error, r, "%s: %s", path, error_text(r)) : 0;
}

/* -- printing -- */

struct printing {
    const struct cluster_options *options;
    const struct document_list *list;
    uint64_t number;
};

static void print_member(const struct printing *printing, const char *path)
{
    if (printing->options->null) {
        fwrite(path, 1, strlen(path) + 1, stdout);
        return;
    }
    if (printing->options->json) {
        _cleanup_json_ struct json_object *row = json_object_new_object();
        work_add_count(row, "cluster", printing->number);
        json_path_add(row, "path", path);
        command_print_json(row);
        return;
    }
    _cleanup_free_ char *escaped = NULL;
    if (escape_name(path, &escaped) == 0)
        printf("%llu\t%s\n", (unsigned long long)printing->number, escaped);
}

/* Clusters in the order of their first documents, and in that of the list. */
static int print_clusters(struct printing *printing, const uint32_t *clusters)
{
    uint32_t n = printing->list->n, none = UINT32_MAX;
    _cleanup_free_ uint32_t *next = malloc((n + 1) * sizeof(*next)); /* of the same cluster */
    _cleanup_free_ uint32_t *last = malloc((n + 1) * sizeof(*last)); /* of the first's cluster */
    if (!next || !last)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        next[i] = none;
        if (clusters[i] != i)
            next[last[clusters[i]]] = i;
        last[clusters[i]] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (clusters[i] != i || next[i] == none)
            continue;
        printing->number++;
        for (uint32_t j = i; j != none; j = next[j]) {
            _cleanup_free_ char *path = document_list_path(printing->list, j);
            if (!path)
                return -ENOMEM;
            print_member(printing, path);
        }
        if (printing->options->null)
            putchar('\0');
    }
    return 0;
}

/* -- the ways to a batch -- */

struct clustering {
    struct cluster_options *options;
    struct document_list list;
    struct stored_documents stored;
    struct configuration configuration;
    struct document_rules documents; /* of that and the options */
    struct extractors *extractors;
    struct batch *batch;
    struct batch_cost sketch;
    struct progress progress;
    uint32_t n_unread;
};

static void clustering_done(struct clustering *clustering)
{
    stored_documents_done(&clustering->stored);
    batch_free(clustering->batch);
    extractors_free(clustering->extractors);
    configuration_done(&clustering->configuration);
    document_rules_done(&clustering->documents);
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

/* Errors of what is kept, with what to do. */
static int explain_kept(const struct batch_options *options, int error, char **ret_error)
{
    if (error == -ENOENT)
        return refuse(ret_error, error, "%s: no sketches there; make them without --phase",
                      options->keep);
    if (error == -EUCLEAN)
        return refuse(ret_error, error,
                      "%s: damaged, or of another machine or version; make it anew "
                      "without --phase",
                      options->keep);
    return cluster_explain(options, error, ret_error);
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
        return explain_names(&clustering->list, ret_error);
    if (loaded == 0 && clustering->list.n != options->batch.n_documents)
        loaded = -EUCLEAN;
    if (r == 0 && loaded == 0 && share_memory(clustering, ret_error) < 0)
        return -E2BIG;
    if (r == 0)
        r = batch_resume(&options->batch, options->phase, &clustering->batch);
    if (r == 0)
        r = loaded;
    if (r < 0)
        return explain_kept(&options->batch, r, ret_error);
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
        return explain_names(&clustering->list, ret_error);
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
        return list_documents(options, &clustering->documents, &clustering->list, ret_error);
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
        return explain_names(&clustering->list, ret_error);
    return r < 0 ? explain_kept(&options->batch, r, ret_error) : 0;
}

static int begin_stream(struct clustering *clustering, char **ret_error)
{
    struct cluster_options *options = clustering->options;
    struct policy policy;
    command_configuration(options->config, &clustering->configuration);
    int r = document_rules_join(&clustering->configuration.documents, &options->documents,
                                &clustering->documents, ret_error);
    if (r == 0)
        r = extractors_new(
            clustering->configuration.extractors, clustering->configuration.n_extractors,
            document_rules_types(&clustering->documents), &clustering->extractors, ret_error);
    if (r == 0)
        r = list_for_stream(clustering, &policy, ret_error);
    if (r == 0)
        r = make_batch(clustering, &policy, ret_error);
    if (r < 0)
        return r;
    struct sketch_stream stream = {.list = &clustering->list,
                                   .policy = &policy,
                                   .extractors = clustering->extractors,
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
    if (r == -EUCLEAN)
        return refuse(ret_error, r, "%s: damaged; make it anew without --phase",
                      options->batch.keep);
    if (r < 0)
        return cluster_explain(&options->batch, r, ret_error);
    struct printing printing = {options, &clustering.list, 0};
    r = print_clusters(&printing, batch_clusters(clustering.batch));
    if (r < 0)
        return r;
    const struct batch_totals *totals = batch_totals(clustering.batch);
    clustering.sketch.written_bytes = totals->sketch_written_bytes;
    if (options->costs)
        cluster_costs_print(&clustering.sketch, totals, options->json);
    if (clustering.n_unread)
        return refuse(ret_error, -EIO, "%u of the documents could not be read",
                      clustering.n_unread);
    return printing.number ? 0 : -ENODATA;
}

int cmd_cluster(int argc, char **argv)
{
    struct cluster_options options;
    _cleanup_free_ char *error = NULL;
    cluster_options_parse(argc, argv, &options);
    int r = options.jsonl ? cluster_corpus(&options, &error) : cluster(&options, &error);
    return command_end(r, error);
}
