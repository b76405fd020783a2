/* kinfs pairs: all pairs of documents that resemble each other. */
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "tools/commands/command.h"
#include "tools/commands/pairs/exact_pairs.h"
#include "tools/commands/pairs/pair_row.h"
#include "tools/show/json_path.h"
#include "tools/show/progress.h"

static const double DEFAULT_LEAST = 0.5, LEAST = 0.05;

struct pairs_options {
    const char *a, *b, *store, *base;
    double least;
    bool between, exact, all, absolute, json;
    struct progress progress;
    struct exact_pairs *exact_pairs; /* NULL: rows are printed as they come */
    struct json_object *counts;
    uint64_t n_rows;
};

enum { OPTION_MIN = 0x100, OPTION_BETWEEN, OPTION_ALL };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pairs_options *options = state->input;
    switch (key) {
    case OPTION_MIN:
        options->least = command_parse_ratio(state, "--min", argument);
        if (options->least < LEAST)
            argp_error(state,
                       "--min takes %.2f at least: what resembles less a sample does not find",
                       LEAST);
        return 0;
    case OPTION_BETWEEN: options->between = true; return 0;
    case OPTION_ALL: options->all = true; return 0;
    case 'e': options->exact = true; return 0;
    case 'a': options->absolute = true; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case 's': options->store = argument; return 0;
    case ARGP_KEY_ARG:
        if (options->b || (options->a && !options->between))
            argp_usage(state);
        *(options->a ? &options->b : &options->a) = argument;
        return 0;
    case ARGP_KEY_END:
        if (options->between && !options->b)
            argp_error(state, "--between takes two directories");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option pairs_options[] = {
    {"min", OPTION_MIN, "R", 0, "least resemblance, 0.05 to 1 (default 0.5)", 0},
    {"between", OPTION_BETWEEN, NULL, 0,
     "of each pair one document is below the first directory and the other below the second", 0},
    {"all", OPTION_ALL, NULL, 0,
     "all pairs of equal documents, too, and of each of these with others; for all that are equal "
     "stands the oldest, else",
     0},
    {"exact", 'e', NULL, 0, "compute from the texts, not from sketches", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {"store", 's', "DIRECTORY", 0, "the store, where the path does not tell", 10},
    {0},
};
static const struct argp parser = {
    pairs_options, parse, "[PATH]\n--between PATH PATH",
    "Print all pairs of documents below PATH (below the working directory) that "
    "resemble each other, the best first: path, a tab, path, a tab, resemblance. Exit code 1 when "
    "there is none.",
    NULL};

static void print_pair(struct pairs_options *options, struct json_object *row)
{
    progress_done(&options->progress);
    options->n_rows++;
    if (options->absolute)
        pair_row_make_absolute(row, options->base);
    if (options->json) {
        json_object_object_add(row, "exact", json_object_new_boolean(options->exact));
        command_print_json(row);
        return;
    }
    pair_row_print_paths(row);
    putchar('\t');
    command_print_ratio(row, "resemblance");
    putchar('\n');
}

static int take_row(void *user, struct json_object *row)
{
    struct pairs_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *counts;
    if (!taken)
        return -ENOMEM;
    int r = pair_row_note(taken, &options->progress, &counts);
    if (counts) {
        json_object_put(options->counts);
        options->counts = json_object_get(counts);
    }
    if (r != 0)
        return r < 0 ? r : 0;
    if (options->exact_pairs)
        return exact_pairs_add(options->exact_pairs, TAKE_PTR(taken));
    print_pair(options, taken);
    return 0;
}

static int print_exact(void *user, struct json_object *row)
{
    _cleanup_json_ struct json_object *taken = row;
    print_pair(user, taken);
    return 0;
}

/* The documents that are not printed are counted on standard error. */
static void tell_counts(const struct pairs_options *options)
{
    const uint64_t equal = command_count(options->counts, "equal"),
                   shortened = command_count(options->counts, "shortened");
    if (equal && !options->all)
        remark("of %s an equal one is older, which stands for all; --all prints all pairs",
               counted(equal, "document").text);
    if (shortened)
        remark("not all of %s are compared that have one of %s in common, but each with the first "
               "64 of them",
               "more than 16,384 documents", counted(shortened, "shingle").text);
}

static int find_trees(struct pairs_options *options, struct location *location,
                      struct json_object *request, char **ret_error)
{
    _cleanup_(location_done) struct location other = {0};
    int r = locate(options->a, options->store, location, ret_error);
    if (r == 0 && options->between)
        r = locate(options->b, options->store, &other, ret_error);
    if (r < 0)
        return r;
    const char *a = location->path ? location->path : "", *b = other.path;
    if (location->is_file && !options->between)
        return refuse(ret_error, -ENOTDIR,
                      "%s: a document; name a directory, or ask what resembles it by kinfs similar",
                      options->a);
    json_path_add(request, "a", a);
    if (!options->between)
        return 0;
    if (strcmp(location->store, other.store) != 0)
        return refuse(ret_error, -EXDEV, "%s and %s are in different trees", options->a,
                      options->b);
    const size_t m = strlen(a), n = strlen(b), least = m < n ? m : n;
    const char end = m < n ? b[m] : a[n];
    if (strncmp(a, b, least) == 0 && (least == 0 || !end || end == '/'))
        return refuse(ret_error, -EINVAL, "%s and %s: one is below the other", options->a,
                      options->b);
    json_path_add(request, "b", b);
    return 0;
}

static int find_pairs(struct pairs_options *options, struct location *location, char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    _cleanup_(exact_pairs_free_p) struct exact_pairs *exact = NULL;
    const struct ask question = {.location = location, .command = "pairs"};
    double least = options->least;
    int r = find_trees(options, location, request, ret_error);
    if (r < 0)
        return r;
    options->base = location->base;
    if (options->exact) {
        r = exact_pairs_new(location, &exact, ret_error);
        if (r < 0)
            return r;
        options->exact_pairs = exact;
        least = exact_pairs_least_estimate(least);
    }
    json_object_object_add(request, "min", json_object_new_double(least));
    json_object_object_add(request, "all", json_object_new_boolean(options->all));
    r = ask(&question, request, take_row, options, ret_error);
    if (r == -EFBIG)
        return refuse(ret_error, r,
                      "more than 16,777,216 pairs may resemble each other so; ask with a higher "
                      "--min, or about a part of the tree");
    if (r == 0 && exact)
        r = exact_pairs_each(exact, options->least, &options->progress, print_exact, options,
                             ret_error);
    progress_done(&options->progress);
    return r;
}

int cmd_pairs(int argc, char **argv)
{
    struct pairs_options options = {.least = DEFAULT_LEAST};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    progress_init(&options.progress);
    int r = find_pairs(&options, &location, &error);
    int code = command_end(r, error);
    if (code == COMMAND_OK && options.counts)
        tell_counts(&options);
    json_object_put(options.counts);
    return code == COMMAND_OK && options.n_rows == 0 ? COMMAND_NO_ANSWER : code;
}
