/* kinfs basis: of each file the document to send or store its difference to.
 *
 * rsync and compressors of differences (zstd --patch-from, xdelta3) take what a file has in common
 * with a basis from there, so the best is the one that has most of it: by containment, which is
 * never less than the resemblance. The two are estimated by different samples, and of a short
 * document containment by very few: then resemblance alone counts, else the greater of them. Of
 * bases that have as much the one that resembles it most: less of it is looked through for nothing.
 */
#include <math.h>
#include <stdio.h>

#include "tools/commands/containing/containing.h"
#include "tools/show/json_path.h"

/* A file with less in common makes a difference that is hardly smaller than the file packed
 * alone. */
static const double DEFAULT_LEAST = 0.1, LEAST = 0.01;
enum { MOST_ANSWERS = 64 }; /* among which the best is looked for: more have as much by estimates */

struct worth {
    double known, containment, resemblance; /* the first that is greater decides */
};

struct basis_options {
    struct command_options common;
    const char *tree;
    double least;
    char **files;
    size_t n_files;
    struct json_object *best; /* of the file that is asked about, or NULL */
    struct worth worth;       /* of that */
    uint64_t n_found, n_uncertain;
};

enum { OPTION_MIN = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct basis_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_MIN:
        options->least = command_parse_ratio(state, "--min", argument);
        if (options->least < LEAST)
            argp_error(state, "--min takes %.2f at least", LEAST);
        return 0;
    case 'T': options->tree = argument; return 0;
    case ARGP_KEY_ARG: return ARGP_ERR_UNKNOWN; /* all of them, below */
    case ARGP_KEY_ARGS:
        options->files = state->argv + state->next;
        options->n_files = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS: argp_usage(state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option basis_options[] = {
    {"min", OPTION_MIN, "R", 0, "least share of FILE that a basis has, 0.01 to 1 (default 0.1)", 0},
    {"tree", 'T', "PATH", 0,
     "the bases are of the tree that PATH is in; FILE need not be, and is only read", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    basis_options, parse, "FILE...",
    "Print for each FILE the document of its tree that has most of it, as a basis for rsync or for "
    "a compressor of differences (zstd --patch-from, xdelta3 -s): the absolute path of the basis, "
    "a tab, FILE; with -0 a NUL behind each of the two. FILE itself, by any of its names, is none. "
    "Nothing is printed of a FILE that has none. FILE - is a document on standard input. Exit code "
    "1 when none was found, 4 when it cannot be told, for a FILE that is too short.",
    children};

static struct worth worth_of(struct json_object *row)
{
    struct worth worth = {.containment = work_number(row, "containment", 0),
                          .resemblance = work_number(row, "resemblance", 0)};
    worth.known = worth.resemblance;
    if (command_is_confident(row))
        worth.known = fmax(worth.known, worth.containment);
    return worth;
}

static bool is_better(const struct worth *x, const struct worth *y)
{
    return x->known != y->known               ? x->known > y->known
           : x->containment != y->containment ? x->containment > y->containment
                                              : x->resemblance > y->resemblance;
}

static int take_row(void *user, const struct contained *of, struct json_object *row)
{
    struct basis_options *options = user;
    const struct worth worth = worth_of(row);
    (void)of;
    if (options->best && !is_better(&worth, &options->worth))
        return 0;
    json_object_put(options->best);
    options->best = json_object_get(row);
    options->worth = worth;
    return 0;
}

/* The row with the basis in the place of its path. */
static void name_basis(struct json_object *row, const struct contained *of)
{
    _cleanup_free_ char *path = NULL;
    command_make_absolute(row, "path", of->base);
    if (json_path_get(row, "path", &path) < 0)
        return;
    json_object_object_del(row, "path");
    json_object_object_del(row, "path_bytes");
    json_path_add(row, "basis", path);
    json_path_add(row, "file", of->file);
}

static void print_best(const struct basis_options *options, const struct contained *of)
{
    struct json_object *row = options->best;
    name_basis(row, of);
    if (options->common.json) {
        json_object_object_add(row, "complete", json_object_new_boolean(!of->incomplete));
        command_print_json(row);
        return;
    }
    command_print_path(row, "basis", options->common.null);
    if (!options->common.null)
        putchar('\t');
    command_print_path(row, "file", options->common.null);
    if (!options->common.null)
        putchar('\n');
}

static void end_file(void *user, const struct contained *of)
{
    struct basis_options *options = user;
    if (options->best) {
        options->n_found++;
        print_best(options, of);
    } else if (of->incomplete) {
        options->n_uncertain++;
        containing_say_incomplete(of, options->common.json);
    }
    json_object_put(options->best);
    options->best = NULL;
}

int cmd_basis(int argc, char **argv)
{
    struct basis_options options = {.least = DEFAULT_LEAST};
    command_parse(&parser, argc, argv, &options);
    const struct containing containing = {.tree = options.tree,
                                          .store = options.common.store,
                                          .least = options.least,
                                          .limit = MOST_ANSWERS,
                                          .row = take_row,
                                          .end = end_file,
                                          .user = &options};
    const int r = containing_ask(&containing, options.files, options.n_files);
    json_object_put(options.best);
    const int code = command_end(0, NULL);
    if (r < 0 || code != COMMAND_OK)
        return COMMAND_FAILED;
    return options.n_found       ? COMMAND_OK
           : options.n_uncertain ? COMMAND_UNCERTAIN
                                 : COMMAND_NO_ANSWER;
}
