#include "tools/commands/cluster/cluster_options.h"

#include <string.h>

#include "base/files/trust.h"
#include "base/room.h"
#include "engine/cluster/large/parallel.h"
#include "tools/commands/cluster/topics_costs.h"
#include "tools/commands/command.h"
#include "tools/options/byte_count.h"
#include "tools/options/policy_choice.h"
#include "tools/questions/patience.h"

enum {
    OPTION_MODE = 0x100,
    OPTION_MEMORY,
    OPTION_SCRATCH,
    OPTION_THREADS,
    OPTION_COSTS,
    OPTION_KEEP,
    OPTION_PHASE,
    OPTION_STORED,
    OPTION_EXCLUDE,
    OPTION_TYPE,
    OPTION_EXCLUDE_TYPE,
    OPTION_MIN_SIZE,
    OPTION_MAX_SIZE,
    OPTION_JSONL,
    OPTION_TEXT_FIELD,
    OPTION_ID_FIELD,
    OPTION_ZST,
    OPTION_STRICT,
    OPTION_KEPT,
    OPTION_DROPPED,
    OPTION_AGAINST,
    OPTION_BAGS,
    OPTION_WINDOW,
};

enum { MOST_WINDOW = 1000, WINDOW = 8 };

#define TOPICS_MODE "haveliwala2000"
static const double topics_threshold = 0.2; /* the paper's */

static uint64_t parse_memory(struct argp_state *state, const char *text)
{
    uint64_t bytes = 0;
    if (byte_count_parse(text, &bytes) < 0)
        argp_error(state, "--memory takes a number of bytes, as 512M or 2G, not '%s'", text);
    return bytes;
}

static void parse_mode(struct argp_state *state, const char *text, struct cluster_options *options)
{
    options->topics = strcmp(text, TOPICS_MODE) == 0;
    options->batch.mode = BATCH_FAST;
    if (options->topics)
        return;
    for (enum batch_mode mode = 0; mode < BATCH_N_MODES; mode++) {
        options->batch.mode = mode;
        if (strcmp(text, batch_mode_name(mode)) == 0)
            return;
    }
    argp_error(state, "--mode=%s: exact, fast, center, broder1997, supershingle or " TOPICS_MODE,
               text);
}

static void parse_bags(struct argp_state *state, const char *text, struct cluster_options *options)
{
    static const char *const names[] = {"anchor", "content", "both"};
    options->topics_said = true;
    for (options->bags = TOPICS_ANCHOR; options->bags <= TOPICS_BOTH; options->bags++)
        if (strcmp(text, names[options->bags]) == 0)
            return;
    argp_error(state, "--bags=%s: anchor, content or both", text);
}

static void check_topics(const struct cluster_options *options, struct argp_state *state)
{
    if (!options->topics && options->topics_said)
        argp_error(state, "--bags and --window go with --mode=" TOPICS_MODE);
    if (options->topics && (options->stored || options->jsonl || options->policy))
        argp_error(state, "--mode=" TOPICS_MODE " reads documents and their links: leave out "
                          "--stored, --jsonl and --policy");
}

static void parse_phase(struct argp_state *state, const char *text, struct cluster_options *options)
{
    options->resketches = strcmp(text, "sketch") == 0;
    for (enum batch_phase phase = 0; phase < BATCH_N_PHASES; phase++) {
        if (strcmp(text, batch_phase_name(phase)) == 0) {
            options->resumes = true;
            options->phase = phase;
        }
    }
    if (!options->resketches && !options->resumes)
        argp_error(state, "--phase=%s: sketch, duplicates, sort, pairs, merge or clusters", text);
}

/* What is kept of topics is what pairs are made of, so all phases behind begin with these. */
static void parse_topics_phase(struct argp_state *state, const char *text,
                               struct cluster_options *options)
{
    for (enum topics_phase phase = TOPICS_PAIRS; phase < TOPICS_N_PHASES; phase++)
        options->resumes |= strcmp(text, topics_phase_name(phase)) == 0;
    if (!options->resumes)
        argp_error(state, "--phase=%s: pairs, filter, sort or center with --mode=" TOPICS_MODE,
                   text);
    if (strcmp(text, topics_phase_name(TOPICS_PAIRS)) != 0)
        complain("--phase=%s: what it takes is not kept; beginning with %s, before it", text,
                 topics_phase_name(TOPICS_PAIRS));
}

static void check_phase(const struct cluster_options *options, struct argp_state *state)
{
    if (!options->batch.keep)
        argp_error(state, "--phase begins with what an earlier run left: name that by --keep");
    if (options->n_paths || options->stored || (options->policy && !options->resketches))
        argp_error(state, "--phase takes documents and policy from what --keep has");
}

static const char *parse_directory(struct argp_state *state, const char *option, const char *text)
{
    if (!*text)
        argp_error(state, "%s takes a directory", option);
    return text;
}

static void check_corpus(const struct cluster_options *options, struct argp_state *state)
{
    const bool of_corpus = options->text_field || options->id_field || options->kept ||
                           options->dropped || options->zst || options->strict ||
                           options->n_against;
    if (!options->jsonl && of_corpus)
        argp_error(state, "--text-field, --id-field, --zst, --strict, --kept, --dropped and "
                          "--against go with --jsonl");
    if (options->jsonl && (options->stored || options->batch.keep || options->documents.n_said ||
                           options->null || options->config))
        argp_error(
            state,
            "--jsonl has no --stored, --keep, --exclude, --type, --exclude-type, --min-size, "
            "--max-size, --config and -0");
}

static error_t parse_end(struct cluster_options *options, struct argp_state *state)
{
    if (options->phase_said && options->topics)
        parse_topics_phase(state, options->phase_said, options);
    else if (options->phase_said)
        parse_phase(state, options->phase_said, options);
    check_corpus(options, state);
    check_topics(options, state);
    if (options->topics && !options->threshold_given)
        options->batch.threshold = topics_threshold;
    if (options->json && options->null)
        argp_error(state, "--json and -0 exclude each other");
    if (options->batch.mode == BATCH_SUPERSHINGLE && options->threshold_given)
        argp_error(state, "--mode=supershingle has no threshold");
    if (options->resumes || options->resketches)
        check_phase(options, state);
    else if (options->n_paths == 0 && !options->stored)
        argp_usage(state);
    for (size_t i = 0; i < options->n_paths; i++)
        options->reads_list |= strcmp(options->paths[i], "-") == 0;
    if (options->reads_list && options->n_paths > 1)
        argp_error(state, "'-' is standard input and stands alone");
    if (options->stored && (options->n_paths > 1 || options->reads_list))
        argp_error(state, "--stored is of one tree");
    if (options->store && !options->stored)
        argp_error(state, "--store goes with --stored");
    if (options->stored && options->policy)
        argp_error(state, "--stored: the sketches of a store have its policy");
    if (options->documents.n_said &&
        (options->reads_list || options->n_paths == 0 || options->stored))
        argp_error(
            state,
            "--exclude, --type, --exclude-type, --min-size and --max-size are for what is found "
            "below PATHs");
    if (options->config && (options->resumes || options->stored))
        argp_error(state, "--config is for documents that are read: take --phase=sketch, or name "
                          "them");
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct cluster_options *options = state->input;
    struct batch_options *batch = &options->batch;
    struct document_rules *rules = &options->documents;
    _cleanup_free_ char *error = NULL;
    switch (key) {
    case 'j': command_set_json(&options->json); return 0;
    case '0': options->null = true; return 0;
    case 't':
        batch->threshold = command_parse_ratio(state, "--threshold", argument);
        if (batch->threshold == 0)
            argp_error(state, "--threshold=0 would join all documents");
        options->threshold_given = true;
        return 0;
    case 'p':
        if (policy_choice("--policy=", argument, &error) < 0)
            argp_error(state, "%s", error);
        options->policy = argument;
        return 0;
    case 'c': options->config = argument; return 0;
    case OPTION_MODE: parse_mode(state, argument, options); return 0;
    case OPTION_BAGS: parse_bags(state, argument, options); return 0;
    case OPTION_WINDOW:
        options->window =
            (uint32_t)command_parse_count(state, "--window", argument, 0, MOST_WINDOW);
        options->topics_said = true;
        return 0;
    case OPTION_MEMORY: batch->memory_bytes = parse_memory(state, argument); return 0;
    case OPTION_SCRATCH: options->scratch = parse_directory(state, "--scratch", argument); return 0;
    case OPTION_THREADS:
        batch->n_threads =
            (unsigned)command_parse_count(state, "--threads", argument, 0, PARALLEL_MAX_THREADS);
        return 0;
    case OPTION_COSTS: options->costs = true; return 0;
    case OPTION_KEEP: batch->keep = parse_directory(state, "--keep", argument); return 0;
    case OPTION_EXCLUDE: command_take_rule(state, rules, "exclude", argument); return 0;
    case OPTION_TYPE: command_take_rule(state, rules, "type", argument); return 0;
    case OPTION_EXCLUDE_TYPE: command_take_rule(state, rules, "exclude_type", argument); return 0;
    case OPTION_MIN_SIZE: command_take_rule(state, rules, "min_size", argument); return 0;
    case OPTION_MAX_SIZE: command_take_rule(state, rules, "max_size", argument); return 0;
    case OPTION_STORED: options->stored = true; return 0;
    case 's': options->store = argument; return 0;
    case OPTION_JSONL: options->jsonl = true; return 0;
    case OPTION_TEXT_FIELD: options->text_field = argument; return 0;
    case OPTION_ID_FIELD: options->id_field = argument; return 0;
    case OPTION_ZST: options->zst = true; return 0;
    case OPTION_STRICT: options->strict = true; return 0;
    case OPTION_KEPT: options->kept = argument; return 0;
    case OPTION_DROPPED: options->dropped = argument; return 0;
    case OPTION_AGAINST:
        if (!MAKE_ROOM(options->against, options->against_room, options->n_against + 1))
            return ENOMEM;
        options->against[options->n_against++] = argument;
        return 0;
    case OPTION_PHASE:
        options->phase_said = argument; /* the last one counts */
        return 0;
    case ARGP_KEY_ARGS:
        options->paths = state->argv + state->next;
        options->n_paths = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END: return parse_end(options, state);
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option cluster_options[] = {
    {"threshold", 't', "R", 0, "least resemblance that joins two documents (0.5), or topics (0.2)",
     0},
    {"mode", OPTION_MODE, "MODE", 0,
     "fast (the default): as in clusters/, where of a long list only the first are compared with "
     "all, and what hangs together loosely is divided; exact: as if all pairs were compared; "
     "center: all is divided, around the largest documents; broder1997: the paper's phases to the "
     "letter, with its limit of 1,000 documents; supershingle: who shares a super shingle, for "
     "documents that are nearly the same; haveliwala2000: documents about the same, and what they "
     "link to, by the words of links",
     0},
    {"bags", OPTION_BAGS, "KIND", 0,
     "with --mode=haveliwala2000: by the words around links to a document and its title (anchor, "
     "the default), by its own (content), or by both",
     0},
    {"window", OPTION_WINDOW, "N", 0,
     "with --mode=haveliwala2000: words before and behind a link that count (8)", 0},
    {"policy", 'p', "NAME", 0, "how documents are sketched: default or broder1997", 0},
    {"config", 'c', "FILE", 0, "the configuration, for its extractors (" CONFIGURATION_FILE ")", 0},
    {"exclude", OPTION_EXCLUDE, "PATTERN", 0,
     "files and directories below PATHs that are left out, as a line of a .kinfsignore; may be "
     "said "
     "again",
     0},
    {"type", OPTION_TYPE, "TYPE", 0,
     "documents of other types below PATHs are left out, as html; may be said again", 0},
    {"exclude-type", OPTION_EXCLUDE_TYPE, "TYPE", 0,
     "documents of this type below PATHs are left out, as binary; may be said again", 0},
    {"min-size", OPTION_MIN_SIZE, "BYTES", 0, "shorter files below PATHs are left out", 0},
    {"max-size", OPTION_MAX_SIZE, "BYTES", 0, "longer files below PATHs are left out", 0},
    {"memory", OPTION_MEMORY, "BYTES", 0, "most memory for sketches and lists (1G)", 0},
    {"scratch", OPTION_SCRATCH, "DIRECTORY", 0,
     "where to put what does not fit ($TMPDIR, else /var/tmp)", 0},
    {"threads", OPTION_THREADS, "N", 0, "0, the default: one a processor", 0},
    {"stored", OPTION_STORED, NULL, 0,
     "the documents are those of the store of the tree that PATH is in, by the sketches it has; "
     "the "
     "tree must not be mounted",
     0},
    {"store", 's', "DIRECTORY", 0, "with --stored: the store, where it is not the default one", 0},
    {"keep", OPTION_KEEP, "DIRECTORY", 0,
     "leave there what the phases make, for --phase; none of its files is a document", 0},
    {"phase", OPTION_PHASE, "PHASE", 0,
     "begin with a phase of --costs, with what an earlier run has left by --keep, or with the "
     "nearest "
     "before it for which that is enough: sketch, with the documents; duplicates, with their "
     "sketches, "
     "any mode and threshold; clusters, of broder1997, with its pairs, another threshold; pairs, "
     "of "
     "haveliwala2000, with its signatures, any threshold",
     0},
    {"jsonl", OPTION_JSONL, NULL, 0,
     "PATHs are files of JSON Lines, or '-' for standard input, each line a document; also packed. "
     "Prints an object for each line: its cluster, id, representative, the resemblance to that, "
     "and "
     "whether it is to be kept",
     5},
    {"text-field", OPTION_TEXT_FIELD, "NAME", 0,
     "with --jsonl: the member whose string is the text, or a path to it with dots (text)", 5},
    {"id-field", OPTION_ID_FIELD, "NAME", 0,
     "with --jsonl: the member by which a line is called, likewise (FILE:LINE)", 5},
    {"kept", OPTION_KEPT, "FILE", 0,
     "with --jsonl: write the lines of representatives and of what resembles nothing there", 5},
    {"dropped", OPTION_DROPPED, "FILE", 0, "with --jsonl: write all other lines there", 5},
    {"against", OPTION_AGAINST, "FILE|STORE", 0,
     "with --jsonl: lines of a corpus there is, or a store of an indexed tree that is not mounted, "
     "as kinfs stores prints it; what resembles one of these documents is dropped, and none of "
     "them is printed; may be said again",
     5},
    {"strict", OPTION_STRICT, NULL, 0, "with --jsonl: a line that is no document is an error", 5},
    {"zst", OPTION_ZST, NULL, 0, "with --jsonl: all is zstd, however it begins", 5},
    {"costs", OPTION_COSTS, NULL, 0,
     "at the end, on standard error, what each phase took; with --json as objects", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {"null", '0', NULL, 0,
     "print only paths, unescaped, each with a NUL behind it, and one more behind each cluster",
     10},
    {0},
};
static const struct argp parser = {
    cluster_options, parse,
    "PATH...\n-\n--jsonl FILE...\n--stored [PATH]\n--keep=DIRECTORY --phase=PHASE",
    "Print which documents below PATHs resemble each other, without an index and leaving nothing "
    "behind: a line for each document in a cluster, the cluster's number, a tab, the path. '-': "
    "the "
    "documents are those of a list on standard input, each path with a NUL behind it. Exit code 1 "
    "when no two documents resemble each other.",
    NULL};

void cluster_options_parse(int argc, char **argv, struct cluster_options *ret_options)
{
    const char *temporary = getenv("TMPDIR");
    struct cluster_options options = {
        .scratch = temporary && *temporary ? temporary : "/var/tmp",
        .batch = {.memory_bytes = (uint64_t)1 << 30, .mode = BATCH_FAST, .threshold = 0.5},
        .window = WINDOW,
    };
    command_parse(&parser, argc, argv, &options);
    if (options.batch.n_threads == 0) {
        long n = sysconf(_SC_NPROCESSORS_ONLN);
        options.batch.n_threads = n < 1                      ? 1
                                  : n > PARALLEL_MAX_THREADS ? PARALLEL_MAX_THREADS
                                                             : (unsigned)n;
    }
    *ret_options = options;
}

int cluster_options_policy(const struct cluster_options *options, struct policy *ret_policy)
{
    int r = policy_preset(options->policy ? options->policy : "default", ret_policy);
    /* The same in each run, so that the clusters are: who wrote the documents could know it. */
    if (r == 0)
        memset(ret_policy->key, 0, sizeof(ret_policy->key));
    return r;
}

static void show_progress(void *user, enum batch_phase phase, uint32_t done, uint32_t of)
{
    struct progress *progress = user;
    progress_phase(progress, batch_phase_name(phase), done, of);
}

int cluster_options_use(struct cluster_options *options, struct progress *progress,
                        char **ret_error)
{
    patience_look(options->scratch);
    _cleanup_close_ int fd = trust_open_anywhere(options->scratch, NULL);
    if (fd == -EXDEV)
        return refuse(ret_error, fd, "%s: %s", options->scratch, error_text(fd));
    options->batch.scratch = options->scratch;
    options->batch.progress = show_progress;
    options->batch.user = progress;
    progress_init(progress);
    return 0;
}
