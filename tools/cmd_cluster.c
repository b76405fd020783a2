/* kinfs cluster: the clusters of many documents at once, without an index. */
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "engine/cluster/parallel.h"
#include "tools/command.h"
#include "tools/json_path.h"
#include "tools/sketch_stream.h"

/* The paper's days of processor time for 30 million documents (Broder et al. 1997, section 4.1). */
static const double paper_sketch_days = 4.6;
static const double paper_days[BATCH_N_PHASES] = {
    [BATCH_DUPLICATES] = 0.3, [BATCH_SORT] = 1.7,     [BATCH_PAIRS] = 0.7,
    [BATCH_MERGE] = 2.6,      [BATCH_CLUSTERS] = 0.5,
};

enum { OPTION_MODE = 0x100, OPTION_MEMORY, OPTION_SCRATCH, OPTION_THREADS, OPTION_COSTS };

struct cluster_options {
    bool json, null, costs, reads_list;
    const char *policy, *scratch;
    char **paths; /* borrowed */
    size_t n_paths;
    struct batch_options batch;
};

static uint64_t parse_memory(struct argp_state *state, const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit) {
        value *= (double)((uint64_t)1 << (10 * (unit - units + 1)));
        end++;
    }
    if (end == text || *end || !(value >= 1 && value <= 0x1p60))
        argp_error(state, "--memory takes a number of bytes, as 512M or 2G, not '%s'", text);
    return (uint64_t)value;
}

static enum batch_mode parse_mode(struct argp_state *state, const char *text)
{
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++)
        if (strcmp(text, batch_mode_name(mode)) == 0)
            return mode;
    argp_error(state, "--mode=%s: exact, fast or broder1997", text);
    return BATCH_EXACT;
}

static error_t parse_end(struct cluster_options *options, struct argp_state *state)
{
    if (options->json && options->null)
        argp_error(state, "--json and -0 exclude each other");
    if (options->n_paths == 0)
        argp_usage(state);
    for (size_t i = 0; i < options->n_paths; i++)
        options->reads_list |= strcmp(options->paths[i], "-") == 0;
    if (options->reads_list && options->n_paths > 1)
        argp_error(state, "'-' is a list on standard input and stands alone");
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct cluster_options *options = state->input;
    struct batch_options *batch = &options->batch;
    struct policy unused;
    switch (key) {
    case 'j': options->json = true; return 0;
    case '0': options->null = true; return 0;
    case 't':
        batch->threshold = command_parse_ratio(state, "--threshold", argument);
        if (batch->threshold == 0)
            argp_error(state, "--threshold=0 would join all documents");
        return 0;
    case 'p':
        if (policy_preset(argument, &unused) < 0)
            argp_error(state, "--policy=%s: default or broder1997", argument);
        options->policy = argument;
        return 0;
    case OPTION_MODE: batch->mode = parse_mode(state, argument); return 0;
    case OPTION_MEMORY: batch->memory_bytes = parse_memory(state, argument); return 0;
    case OPTION_SCRATCH: options->scratch = argument; return 0;
    case OPTION_THREADS:
        batch->n_threads =
            (unsigned)command_parse_count(state, "--threads", argument, PARALLEL_MAX_THREADS);
        return 0;
    case OPTION_COSTS: options->costs = true; return 0;
    case ARGP_KEY_ARGS:
        options->paths = state->argv + state->next;
        options->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END: return parse_end(options, state);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option cluster_options[] = {
    {"threshold", 't', "R", 0, "least resemblance that joins two documents (0.5)", 0},
    {"mode", OPTION_MODE, "MODE", 0,
     "exact (the default): as if all pairs were compared; fast: by representatives; broder1997: "
     "the "
     "paper's phases to the letter, with its limit of 1,000 documents",
     0},
    {"policy", 'p', "NAME", 0, "how documents are sketched: default or broder1997", 0},
    {"memory", OPTION_MEMORY, "BYTES", 0, "most memory for sketches and lists (1G)", 0},
    {"scratch", OPTION_SCRATCH, "DIRECTORY", 0,
     "where to put what does not fit ($TMPDIR, else /var/tmp)", 0},
    {"threads", OPTION_THREADS, "N", 0, "0, the default: one a processor", 0},
    {"costs", OPTION_COSTS, NULL, 0, "at the end, on standard error, what each phase took", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {"null", '0', NULL, 0,
     "print only paths, unescaped, each with a NUL behind it, and one more behind each cluster",
     10},
    {0},
};
static const struct argp parser = {
    cluster_options, parse, "PATH...\n-",
    "Print which documents below PATHs resemble each other, without an index and leaving nothing "
    "behind: a line for each document in a cluster, the cluster's number, a tab, the path. '-': "
    "the "
    "documents are those of a list on standard input, each path with a NUL behind it. Exit code 1 "
    "when no two documents resemble each other.",
    NULL};

/* -- reading -- */

static int list_documents(const struct cluster_options *options, struct document_list *list,
                          char **ret_error)
{
    if (options->reads_list) {
        int r = document_list_read(list, stdin);
        return r < 0 ? refuse(ret_error, r, "the list on standard input: %s", strerror(-r)) : 0;
    }
    for (size_t i = 0; i < options->n_paths; i++) {
        const char *path = options->paths[i];
        int r = document_list_add(list, path);
        if (r == -ENOENT)
            return refuse(ret_error, r, "%s: no such file; correct the name", path);
        if (r == -EINVAL)
            return refuse(ret_error, r, "%s: neither a file nor a directory", path);
        if (r < 0)
            return refuse(ret_error, r, "%s: %s", path, strerror(-r));
    }
    return 0;
}

/* What is wrong, and what to do. */
static int explain(const struct batch_options *options, int error, char **ret_error)
{
    uint64_t least_mb = (batch_least_memory(options->n_documents) >> 20) + 1;
    switch (error) {
    case -E2BIG:
        return refuse(ret_error, error, "%u documents take --memory=%lluM at least",
                      options->n_documents, (unsigned long long)least_mb);
    case -ENOSPC:
    case -EDQUOT:
    case -EFBIG:
        return refuse(ret_error, error,
                      "%s: no room for what does not fit into memory; give more --memory, or name "
                      "another directory by --scratch",
                      options->scratch);
    case -ENOMEM: return refuse(ret_error, error, "not so much memory; give less --memory");
    default:
        return refuse(ret_error, error, "%s: %s; name another directory by --scratch",
                      options->scratch, strerror(-error));
    }
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
        for (uint32_t j = i; j != none; j = next[j])
            print_member(printing, printing->list->paths[j]);
        if (printing->options->null)
            putchar('\0');
    }
    return 0;
}

static void print_cost(const char *name, const struct batch_cost *cost, double days, uint64_t n)
{
    double paper_s = days * 86400 * (double)n / 30e6;
    fprintf(stderr, "%-11s %9.2f %9.2f %9.0f %9.0f %14.1f\n", name, cost->cpu_s, cost->wall_s,
            (double)cost->read_bytes / 1e6, (double)cost->written_bytes / 1e6, paper_s);
}

/* A table, beside what the paper's computers took for as many documents. */
static void print_costs(const struct sketch_stream *stream, const struct batch_totals *totals)
{
    uint64_t n = totals->n_documents;
    const struct batch_cost sketch = {stream->cpu_s, stream->wall_s, stream->n_bytes,
                                      totals->sketch_written_bytes};
    fprintf(stderr, "%-11s %9s %9s %9s %9s %14s\n", "phase", "CPU s", "wall s", "MB read",
            "MB writ.", "in 1996, CPU s");
    print_cost("sketch", &sketch, paper_sketch_days, n);
    for (enum batch_phase phase = 0; phase < BATCH_N_PHASES; phase++)
        print_cost(batch_phase_name(phase), &totals->cost[phase], paper_days[phase], n);
    fprintf(stderr,
            "%llu documents, %llu without words; equal to another: content %llu, else text %llu, "
            "else shingles %llu\n",
            (unsigned long long)n, (unsigned long long)totals->n_empty,
            (unsigned long long)totals->equivalence.n_identical,
            (unsigned long long)totals->equivalence.n_lexical,
            (unsigned long long)totals->equivalence.n_shingles);
    fprintf(stderr,
            "%llu clusters of %llu documents, the largest of %llu; of one content %llu of %llu\n",
            (unsigned long long)totals->n_clusters, (unsigned long long)totals->n_clustered,
            (unsigned long long)totals->largest, (unsigned long long)totals->n_identical_clusters,
            (unsigned long long)totals->n_identical_clustered);
    if (totals->n_shortened)
        fprintf(stderr, "%llu lists were so long that only representatives were compared\n",
                (unsigned long long)totals->n_shortened);
    if (totals->n_left_out)
        fprintf(stderr, "%llu shingles of more than 1,000 documents were left out\n",
                (unsigned long long)totals->n_left_out);
}

static int cluster(struct cluster_options *options, char **ret_error)
{
    struct policy policy;
    struct progress progress;
    _cleanup_(document_list_done) struct document_list list = {0};
    _cleanup_(batch_free_p) struct batch *batch = NULL;
    int r = policy_preset(options->policy, &policy);
    if (r < 0)
        return r;
    /* The same in each run, so that the clusters are: who wrote the documents could know it. */
    memset(policy.key, 0, sizeof(policy.key));
    r = list_documents(options, &list, ret_error);
    if (r < 0)
        return r;
    options->batch.n_documents = list.n;
    options->batch.scratch = options->scratch;
    r = batch_new(&policy, &options->batch, &batch);
    if (r < 0)
        return explain(&options->batch, r, ret_error);

    progress_init(&progress);
    struct sketch_stream stream = {.list = &list,
                                   .policy = &policy,
                                   .batch = batch,
                                   .n_threads = options->batch.n_threads,
                                   .progress = &progress};
    r = sketch_stream_run(&stream);
    if (r == 0)
        r = batch_run(batch);
    if (r < 0)
        return explain(&options->batch, r, ret_error);
    struct printing printing = {options, &list, 0};
    r = print_clusters(&printing, batch_clusters(batch));
    if (r < 0)
        return r;
    if (options->costs)
        print_costs(&stream, batch_totals(batch));
    uint32_t n_unread = stream.n_unread + list.n_unread;
    if (n_unread)
        return refuse(ret_error, -EIO, "%u of the documents could not be read", n_unread);
    return printing.number ? 0 : -ENODATA;
}

int cmd_cluster(int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    struct cluster_options options = {
        .policy = "default",
        .scratch = temporary && *temporary ? temporary : "/var/tmp",
        .batch = {.memory_bytes = (uint64_t)1 << 30, .threshold = 0.5},
    };
    _cleanup_free_ char *error = NULL;
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    if (options.batch.n_threads == 0) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        options.batch.n_threads = n < 1                      ? 1
                                  : n > PARALLEL_MAX_THREADS ? PARALLEL_MAX_THREADS
                                                             : (unsigned)n;
    }
    int r = cluster(&options, &error);
    return command_end(r, error);
}
