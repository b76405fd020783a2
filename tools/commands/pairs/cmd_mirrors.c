/* kinfs mirrors: directories that mirror each other, wholly or in part. */
#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "tools/commands/command.h"
#include "tools/commands/pairs/alike.h"
#include "tools/commands/pairs/pair_row.h"
#include "tools/show/json_path.h"
#include "tools/show/progress.h"

/* A twentieth of the documents on either side, and of the words of two that are taken for one, may
 * differ in what is still a mirror: half of the documents is one in part. Two documents in common
 * are more than a licence; 64 directories that have one and the same are more than mirrors. */
static const double DEFAULT_SHARE = 0.5, DEFAULT_NEAR = 0.95, LEAST = 0.05;
enum { DEFAULT_DOCUMENTS = 2, DEFAULT_MOST = 64 };

struct mirrors_options {
    const char *path, *store, *base;
    double share, near;
    uint64_t documents, most, n_common, n_rows;
    bool absolute, json;
    struct progress progress;
};

enum { OPTION_MIN = 0x100, OPTION_NEAR, OPTION_DOCUMENTS, OPTION_MOST };

static double parse_share(struct argp_state *state, const char *option, const char *text)
{
    const double share = command_parse_ratio(state, option, text);
    if (share < LEAST)
        argp_error(state, "%s takes %.2f at least", option, LEAST);
    return share;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct mirrors_options *options = state->input;
    switch (key) {
    case OPTION_MIN: options->share = parse_share(state, "--min", argument); return 0;
    case OPTION_NEAR: options->near = parse_share(state, "--near", argument); return 0;
    case OPTION_DOCUMENTS:
        options->documents = command_parse_count(state, "--documents", argument, 1, UINT32_MAX);
        return 0;
    case OPTION_MOST:
        options->most = command_parse_count(state, "--most", argument, 2, ALIKE_MOST_DIRECTORIES);
        return 0;
    case 'a': options->absolute = true; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case 's': options->store = argument; return 0;
    case ARGP_KEY_ARG:
        if (options->path)
            argp_usage(state);
        options->path = argument;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option mirrors_options[] = {
    {"min", OPTION_MIN, "R", 0,
     "least share of the documents of both that the other has, 0.05 to 1 (default 0.5)", 0},
    {"near", OPTION_NEAR, "R", 0,
     "least resemblance of two documents that are taken for one, 0.05 to 1 (default 0.95)", 0},
    {"documents", OPTION_DOCUMENTS, "N", 0,
     "least number of documents of each that the other has (default 2)", 0},
    {"most", OPTION_MOST, "N", 0,
     "a document that is in more directories than N, as a licence is, counts for none, 2 to 256 "
     "(default 64)",
     0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line", 10},
    {"store", 's', "DIRECTORY", 0, "the store, where the path does not tell", 10},
    {0},
};
static const struct argp parser = {
    mirrors_options, parse, "[DIRECTORY]",
    "Print the directories below DIRECTORY (below the working directory) that mirror "
    "each other, wholly or in part, those with most documents in common first: path, path, share "
    "of the documents of both that the other has, share of the first that the second has, share of "
    "the second that the first has, number and bytes of the documents of the first that the second "
    "has, with tabs between. Of directories that correspond below two that mirror each other "
    "nothing is said. Exit code 1 when there are none.",
    NULL};

static void print_mirror(struct mirrors_options *options, struct json_object *row)
{
    struct json_object *of = NULL;
    progress_done(&options->progress);
    options->n_rows++;
    if (options->absolute)
        pair_row_make_absolute(row, options->base);
    if (options->json) {
        command_print_json(row);
        return;
    }
    pair_row_print_paths(row);
    const char *const ratios[] = {"share", "a_in_b", "b_in_a"};
    for (unsigned i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
        putchar('\t');
        command_print_ratio(row, ratios[i]);
    }
    json_object_object_get_ex(row, "of_a", &of);
    printf("\t%" PRIu64 "\t%" PRIu64 "\n", command_count(of, "common"),
           command_count(of, "common_bytes"));
}

static int take_row(void *user, struct json_object *row)
{
    struct mirrors_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *counts, *of;
    if (!taken)
        return -ENOMEM;
    int r = pair_row_note(taken, &options->progress, &counts);
    if (counts)
        options->n_common = command_count(counts, "common");
    if (r != 0)
        return r < 0 ? r : 0;
    if (!json_object_object_get_ex(taken, "of_a", &of) ||
        !json_object_is_type(of, json_type_object))
        return -EPROTO;
    print_mirror(options, taken);
    return 0;
}

static int find_mirrors(struct mirrors_options *options, struct location *location,
                        char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    const struct ask question = {.location = location, .command = "mirrors"};
    int r = locate(options->path, options->store, location, ret_error);
    if (r < 0)
        return r;
    if (location->is_file)
        return refuse(ret_error, -ENOTDIR,
                      "%s: a document; name a directory, or ask who has a part of it by kinfs "
                      "copies",
                      options->path);
    options->base = location->base;
    json_path_add(request, "a", location->path ? location->path : "");
    json_object_object_add(request, "min", json_object_new_double(options->share));
    json_object_object_add(request, "near", json_object_new_double(options->near));
    work_add_count(request, "documents", options->documents);
    work_add_count(request, "most", options->most);
    r = ask(&question, request, take_row, options, ret_error);
    progress_done(&options->progress);
    return r;
}

int cmd_mirrors(int argc, char **argv)
{
    struct mirrors_options options = {.share = DEFAULT_SHARE,
                                      .near = DEFAULT_NEAR,
                                      .documents = DEFAULT_DOCUMENTS,
                                      .most = DEFAULT_MOST};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    progress_init(&options.progress);
    int r = find_mirrors(&options, &location, &error);
    int code = command_end(r, error);
    if (code == COMMAND_OK && options.n_common)
        complain("%s in more than %" PRIu64 " directories counted for none; --most says how many",
                 counted(options.n_common, "document").text, options.most);
    return code == COMMAND_OK && options.n_rows == 0 ? COMMAND_NO_ANSWER : code;
}
