/* kinfs settle: wait until every document is sketched. */
#include "tools/show/json_path.h"
#include "tools/commands/settling.h"

struct settle_options {
    struct command_options common;
    uint64_t timeout_s;
    bool has_timeout;
};

enum { OPTION_TIMEOUT = 0x100 };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settle_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_TIMEOUT:
        options->timeout_s = command_parse_count(state, "--timeout", argument, 1, UINT32_MAX);
        options->has_timeout = true;
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option settle_options[] = {
    {"timeout", OPTION_TIMEOUT, "SECONDS", 0, "give up after so long (exit code 3)", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    settle_options, parse, "[PATH]",
    "Wait until every document of the tree that PATH (or the working directory) is in has been "
    "sketched, with all that was changed before the call, also beside a mount that watches. "
    "Without "
    "a mount, the tree is brought up to date here. Documents written through a mount never need "
    "this: they are in the views when close(2) has returned.",
    children};

int cmd_settle(int argc, char **argv)
{
    struct settle_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    if (options.has_timeout)
        work_add_count(request, "timeout_ms", options.timeout_s * 1000);
    const struct ask question = {.location = &location, .command = "settle", .start = true};
    return settling_run(&question, request, options.common.json);
}
