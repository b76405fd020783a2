/* kinfs lost: what now resembles a document that is gone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/commands/past/gone_path.h"
#include "tools/commands/past/past_row.h"
#include "tools/questions/question.h"
#include "tools/show/json_path.h"

static const double DEFAULT_THRESHOLD = 0.4; /* as of kinfs similar */
enum { DEFAULT_LIMIT = 100 };

static int refuse_forgotten(struct index *index, const char *shown, char **ret_error)
{
    const uint64_t keep_s = index_keep_lost(index);
    _cleanup_free_ char *why = keep_s == 0 ? message("%s", "none is kept, -o keep_lost=0")
                                           : message("kept for %llu days, -o keep_lost=",
                                                     (unsigned long long)(keep_s + 86399) / 86400);
    return refuse(ret_error, -ENODATA, "%s: no content of such a document is remembered (%s)",
                  shown, why);
}

int work_lost(const struct work_context *context, struct json_object *request, row_fn row,
              void *user, char **ret_error)
{
    const struct index_query query = {
        .relation = INDEX_RESEMBLES,
        .threshold = work_number(request, "threshold", DEFAULT_THRESHOLD),
        .limit = work_count(request, "limit", DEFAULT_LIMIT),
        .wait_ms = WORK_SETTLE_MS,
        .stop = context->stop,
        .stop_user = context->stop_user,
    };
    _cleanup_(kin_list_done) struct kin_list list = {0};
    _cleanup_free_ char *path = NULL, *was_path = NULL;
    struct index_past was;
    if (json_path_get(request, "path", &path) < 0)
        return refuse(ret_error, -EINVAL, "the request has no path");
    work_catch_up(context);
    int r = index_lost(context->index, path, &query, &was, &was_path, &list);
    if (r == -ENOENT)
        return refuse_forgotten(context->index, work_shown(request, "path"), ret_error);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", work_shown(request, "path"), error_text(r));
    r = row(user, past_row(&was));
    for (size_t i = 0; r == 0 && i < list.n_kin; i++)
        r = row(user, question_row(&list.kin[i]));
    return r;
}

struct lost_options {
    struct command_options common;
    const char *base;
    double threshold;
    uint64_t limit, n_rows;
    bool absolute;
    struct json_object *was;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct lost_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 't': options->threshold = command_parse_ratio(state, "--threshold", argument); return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'a': options->absolute = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option lost_options[] = {
    {"threshold", 't', "R", 0, "least resemblance, 0 to 1 (default 0.4)", 0},
    {"limit", 'n', "N", 0, "most answers, 0 for all (default 100)", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    lost_options, parse, "PATH",
    "Print the documents that now resemble what was last at PATH, which is gone, was moved, or is "
    "another document now, the best first: resemblance, a tab, the path below the tree. Contents "
    "are remembered for a year, or as long as `kinfs mount -o keep_lost=` says. For root and the "
    "owner of the mount, or store, alone. Exit code 1 when there is none.",
    children};

static void add_was(struct json_object *row, struct json_object *was)
{
    static const char *const names[] = {"event", "time", "size_bytes"};
    static const char *const as[] = {"was_event", "was_time", "was_size_bytes"};
    _cleanup_free_ char *path = NULL;
    struct json_object *member;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (json_object_object_get_ex(was, names[i], &member))
            json_object_object_add(row, as[i], json_object_get(member));
    if (json_path_get(was, "path", &path) == 0)
        json_path_add(row, "was_path", path);
}

static int print_row(void *user, struct json_object *row)
{
    struct lost_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (!options->was) {
        options->was = TAKE_PTR(taken);
        return 0;
    }
    options->n_rows++;
    if (options->absolute)
        command_make_absolute(taken, "path", options->base);
    if (options->common.json) {
        add_was(taken, options->was);
        command_print_json(taken);
        return 0;
    }
    if (!options->common.null) {
        command_print_ratio(taken, "resemblance");
        putchar('\t');
    }
    command_print_path(taken, "path", options->common.null);
    if (!options->common.null)
        putchar('\n');
    return 0;
}

int cmd_lost(int argc, char **argv)
{
    struct lost_options options = {
        .common.needs_path = true, .threshold = DEFAULT_THRESHOLD, .limit = DEFAULT_LIMIT};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = gone_path_locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    options.base = location.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_add_path(request, "path", options.common.path, location.path);
    json_object_object_add(request, "threshold", json_object_new_double(options.threshold));
    work_add_count(request, "limit", options.limit);
    const struct ask question = {.location = &location, .command = "lost"};
    r = ask(&question, request, print_row, &options, &error);
    json_object_put(options.was);
    int code = command_end(r, error);
    return code == COMMAND_OK && options.n_rows == 0 ? COMMAND_NO_ANSWER : code;
}
