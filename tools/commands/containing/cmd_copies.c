/* kinfs copies: who holds a good part of a document. */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/room.h"
#include "tools/commands/containing/containing.h"
#include "tools/show/json_path.h"

static const double DEFAULT_LEAST = 0.3; /* a third of it is more than what a quotation has */

struct copies_options {
    struct command_options common;
    const char *tree;
    double least;
    uint64_t limit, n_rows;
    bool absolute, is_uncertain;
    struct json_object **guesses; /* rows that rest on few samples, shown behind the others */
    size_t n_guesses, guesses_room;
    /* The last owner's name, as owners come in runs; NULL: without one */
    bool knows_owner;
    uid_t uid;
    char *name;
};

enum { OPTION_MIN = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct copies_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_MIN: options->least = command_parse_ratio(state, "--min", argument); return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX - 1);
        return 0;
    case 'a': options->absolute = true; return 0;
    case 'T': options->tree = argument; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option copies_options[] = {
    {"min", OPTION_MIN, "R", 0, "least share of FILE, 0 to 1 (default 0.3)", 0},
    {"limit", 'n', "N", 0, "most answers, 0 for all (default 0)", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {"tree", 'T', "PATH", 0,
     "FILE need not be in it: any document, which is only read; of the tree that PATH is in", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    copies_options, parse, "FILE",
    "Print who holds a good part of FILE, those that hold most of it first, and last what rests on "
    "few samples: how much of FILE is in "
    "the document, a tab, the owner's name (or number), a tab, the path below the tree. FILE "
    "itself, "
    "by any of its names, is left out. FILE - is a document on standard input, asked about in the "
    "tree of the working directory unless --tree names another. Exit code 1 when there is none, 4 "
    "when none was found but cannot be told, as FILE is too short.",
    children};

static void find_name(struct copies_options *options, uid_t uid)
{
    if (options->knows_owner && options->uid == uid)
        return;
    const struct passwd *user = getpwuid(uid);
    free(options->name);
    options->name = user ? message("%s", user->pw_name) : NULL;
    options->uid = uid;
    options->knows_owner = true;
}

/* The owner as it is now; null where the path leads nowhere any more. */
static bool add_owner(struct copies_options *options, const struct contained *of,
                      struct json_object *row)
{
    _cleanup_free_ char *path = NULL;
    struct stat st;
    const bool is_there =
        json_path_get(row, "path", &path) == 0 && containing_stat(of, path, &st) == 0;
    if (is_there)
        find_name(options, st.st_uid);
    if (is_there && options->name)
        json_path_add(row, "owner", options->name);
    else
        json_object_object_add(row, "owner", NULL);
    json_object_object_add(row, "uid", is_there ? json_object_new_uint64(st.st_uid) : NULL);
    return is_there;
}

static void print_owner(const struct copies_options *options)
{
    _cleanup_free_ char *escaped = NULL;
    if (!options->name)
        printf("%ju", (uintmax_t)options->uid);
    else if (escape_name(options->name, &escaped) == 0)
        fputs(escaped, stdout);
}

static void print_row(struct copies_options *options, const struct contained *of,
                      struct json_object *row)
{
    const bool is_there = add_owner(options, of, row);
    options->n_rows++;
    if (options->absolute)
        command_make_absolute(row, "path", of->base);
    if (options->common.json) {
        json_object_object_add(row, "complete", json_object_new_boolean(!of->incomplete));
        command_print_json(row);
        return;
    }
    if (!options->common.null) {
        command_print_ratio(row, "containment");
        command_print_confidence(row);
        putchar('\t');
        if (is_there)
            print_owner(options);
        else
            putchar('-');
        putchar('\t');
    }
    command_print_path(row, "path", options->common.null);
    if (!options->common.null)
        putchar('\n');
}

static int take_row(void *user, const struct contained *of, struct json_object *row)
{
    struct copies_options *options = user;
    if (command_is_confident(row)) {
        print_row(options, of, row);
        return 0;
    }
    if (!MAKE_ROOM(options->guesses, options->guesses_room, options->n_guesses + 1))
        return -ENOMEM;
    options->guesses[options->n_guesses++] = json_object_get(row);
    return 0;
}

static void end_file(void *user, const struct contained *of)
{
    struct copies_options *options = user;
    for (size_t i = 0; i < options->n_guesses; i++)
        print_row(options, of, options->guesses[i]);
    options->is_uncertain = of->incomplete && options->n_rows == 0;
    if (of->incomplete && (!options->common.json || options->is_uncertain))
        containing_say_incomplete(of, options->common.json);
}

int cmd_copies(int argc, char **argv)
{
    struct copies_options options = {.common.needs_path = true, .least = DEFAULT_LEAST};
    command_parse(&parser, argc, argv, &options);
    const struct containing containing = {.tree = options.tree,
                                          .store = options.common.store,
                                          .least = options.least,
                                          .limit = options.limit,
                                          .row = take_row,
                                          .end = end_file,
                                          .user = &options};
    const int r = containing_ask(&containing, (char *const *)&options.common.path, 1);
    const int code = command_end(0, NULL);
    for (size_t i = 0; i < options.n_guesses; i++)
        json_object_put(options.guesses[i]);
    free(options.guesses);
    free(options.name);
    if (r < 0 || code != COMMAND_OK)
        return COMMAND_FAILED;
    return options.n_rows         ? COMMAND_OK
           : options.is_uncertain ? COMMAND_UNCERTAIN
                                  : COMMAND_NO_ANSWER;
}
