/* kinfs distinct: two documents that are not duplicates of each other, whatever they say. */
#include <string.h>

#include "tools/commands/command.h"
#include "tools/show/json_path.h"

int work_distinct(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error)
{
    _cleanup_free_ char *path_a = NULL, *path_b = NULL;
    const bool distinct = !work_flag(request, "undo");
    struct file_key a, b;
    struct document_info info;
    int r = work_document(context, request, "a", &path_a, &a, &info, ret_error);
    if (r >= 0)
        r = work_document(context, request, "b", &path_b, &b, &info, ret_error);
    if (r < 0)
        return r;
    r = index_set_distinct(context->index, &a, &b, distinct);
    if (r == -EINVAL)
        return refuse(ret_error, r, "%s, %s: one file; name two", work_shown(request, "a"),
                      work_shown(request, "b"));
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s, %s: not both are documents that are known",
                      work_shown(request, "a"), work_shown(request, "b"));
    if (r < 0)
        return refuse(ret_error, r, "%s, %s: %s", work_shown(request, "a"),
                      work_shown(request, "b"), error_text(r));
    struct json_object *object = json_object_new_object();
    json_path_add(object, "a", path_a);
    json_path_add(object, "b", path_b);
    json_object_object_add(object, "distinct", json_object_new_boolean(distinct));
    return row(user, object);
}

struct distinct_options {
    struct command_options common;
    const char *a, *b;
    bool undo;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct distinct_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'u': options->undo = true; return 0;
    case ARGP_KEY_ARG:
        if (options->b)
            argp_usage(state);
        *(options->a ? &options->b : &options->a) = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->b)
            argp_usage(state);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option distinct_options[] = {
    {"undo", 'u', NULL, 0, "take that back", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    distinct_options, parse, "A B",
    "Declare two documents of a tree not to be duplicates of each other: in unique/ neither stands "
    "in for the other. It is remembered in the store for as long as both are there, whatever is "
    "done to their texts and names; a new file that takes the name of an old one, as many editors "
    "save, has what was declared of that.",
    children};

static int print_row(void *user, struct json_object *row)
{
    const struct distinct_options *options = user;
    if (row && options->common.json)
        command_print_json(row);
    json_object_put(row);
    return row ? 0 : -ENOMEM;
}

static int declare(struct distinct_options *options, char **ret_error)
{
    _cleanup_(location_done) struct location a = {0}, b = {0};
    int r = locate(options->a, options->common.store, &a, ret_error);
    if (r >= 0)
        r = locate(options->b, options->common.store, &b, ret_error);
    if (r < 0)
        return r;
    if (strcmp(a.store, b.store) != 0)
        return refuse(ret_error, -EXDEV, "%s and %s are in different trees", options->a,
                      options->b);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_add_path(request, "a", options->a, a.path);
    command_add_path(request, "b", options->b, b.path);
    json_object_object_add(request, "undo", json_object_new_boolean(options->undo));
    const struct ask question = {.location = &a, .command = "distinct"};
    return ask(&question, request, print_row, options, ret_error);
}

int cmd_distinct(int argc, char **argv)
{
    struct distinct_options options = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = declare(&options, &error);
    return command_end(r, error);
}
