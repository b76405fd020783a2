/* kinfs tidy: what becomes of near-duplicates, planned, done and undone. */
#include <errno.h>
#include <string.h>

#include "tools/commands/command.h"
#include "tools/commands/tidy/tidy_apply.h"
#include "tools/commands/tidy/tidy_plan.h"

struct tidy_arguments {
    struct command_options common;
    struct tidy_options options;
    enum tidy_act act;
    bool act_said, near, is_undo;
};

enum { OPTION_DO = 0x100, OPTION_NEAR, OPTION_UNDO_FILE, OPTION_TRASH };

/* -- the command -- */

static void check(struct argp_state *state, struct tidy_arguments *arguments)
{
    const struct tidy_options *options = &arguments->options;
    const bool plans = !options->plan && !arguments->is_undo;
    if (arguments->is_undo && options->plan)
        argp_error(state, "--apply and --undo exclude each other");
    if (!plans && arguments->common.path)
        argp_error(state, "the directory is the one in the file");
    if (!plans && (arguments->act_said || arguments->near))
        argp_error(state, "--do and --near are for making a plan");
    if (!options->plan && (options->trash || (options->undo_file && !arguments->is_undo)))
        argp_error(state, "--trash and --undo-file go with --apply");
    if (arguments->near && arguments->act != TIDY_TRASH)
        argp_error(state, "--near goes with --do=trash: only what is the same byte for byte can "
                          "be linked");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct tidy_arguments *arguments = state->input;
    struct tidy_options *options = &arguments->options;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &arguments->common; return 0;
    case OPTION_DO:
        arguments->act = tidy_act_of(argument);
        arguments->act_said = true;
        if (arguments->act == N_TIDY_ACTS)
            argp_error(state, "--do takes one of: list, trash, link or reflink");
        return 0;
    case OPTION_NEAR: arguments->near = true; return 0;
    case 'A': options->plan = argument; return 0;
    case 'u':
        arguments->is_undo = true;
        options->undo_file = argument;
        return 0;
    case OPTION_UNDO_FILE: options->undo_file = argument; return 0;
    case OPTION_TRASH: options->trash = argument; return 0;
    case 'c': options->configuration_file = argument; return 0;
    case ARGP_KEY_END: check(state, arguments); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option tidy_options[] = {
    {"do", OPTION_DO, "ACT", 0,
     "what is planned for a document that is the same byte for byte as the one that is kept: list "
     "(nothing; the default), trash, link (a hard link to it), reflink (a file of its own that "
     "shares its room)",
     0},
    {"near", OPTION_NEAR, NULL, 0, "with --do=trash: for near-duplicates, too", 0},
    {"apply", 'A', "PLAN", 0, "do what a plan says, printed by --json before", 1},
    {"undo-file", OPTION_UNDO_FILE, "FILE", 0,
     "with --apply: a new file, by which it can be undone (PLAN.undo)", 1},
    {"trash", OPTION_TRASH, "DIRECTORY", 0,
     "with --apply: a trash there, in the mount of the tree (that of the desktop)", 1},
    {"undo", 'u', "FILE", 0, "undo what was done, by the file of --undo-file", 2},
    {"config", 'c', "FILE", 0, "where nothing is mounted: for [unique] (/etc/kinfs/kinfs.conf)",
     10},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    tidy_options, parse, "[DIRECTORY]\n--apply PLAN\n--undo FILE",
    "Plan what becomes of the documents of DIRECTORY (of the working directory) that unique/ "
    "leaves "
    "out, for which another one in DIRECTORY stays: print the plan, and change nothing; with "
    "--json "
    "as lines that --apply takes. That looks at both documents once more, leaves alone what has "
    "changed or what unique/ would not leave out now, and says so. Exit code 1 where something "
    "was left alone, or could not be undone.",
    children};

static int plan(const struct tidy_arguments *arguments, char **ret_error)
{
    _cleanup_(location_done) struct location at = {0};
    _cleanup_(tidy_plan_done) struct tidy_plan plan = {0};
    int r = locate(arguments->common.path, arguments->common.store, &at, ret_error);
    if (r == 0 && at.is_file)
        r = refuse(ret_error, -ENOTDIR, "%s: no directory", arguments->common.path);
    if (r == 0)
        r = tidy_plan_ask(&plan, &at, arguments->options.configuration_file, ret_error);
    if (r == 0)
        r = tidy_plan_choose(&plan, arguments->near);
    if (r < 0)
        return r;
    tidy_plan_decide(&plan, arguments->act, arguments->near);
    tidy_plan_print(&plan, arguments->common.json);
    return 0;
}

int cmd_tidy(int argc, char **argv)
{
    struct tidy_arguments arguments = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &arguments);
    arguments.options.json = arguments.common.json;
    arguments.options.store = arguments.common.store;
    int r = arguments.is_undo        ? tidy_undo(&arguments.options, &error)
            : arguments.options.plan ? tidy_apply(&arguments.options, &error)
                                     : plan(&arguments, &error);
    return command_end(r, error);
}
