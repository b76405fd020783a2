/* kinfs rebuild: make everything derived anew. */
#include <stdio.h>

#include "base/counted.h"
#include "tools/show/json_path.h"
#include "tools/commands/rebuild_store.h"

struct rebuild_options {
    struct command_options common;
    const char *config;
    unsigned n_workers;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct rebuild_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'c': options->config = argument; return 0;
    case 'w':
        options->n_workers = (unsigned)command_parse_count(state, "--workers", argument, 0, 256);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option rebuild_options[] = {
    {"config", 'c', "FILE", 0,
     "the configuration, which also says which files are documents (" CONFIGURATION_FILE
     ", and of documents what the store was last followed by)",
     0},
    {"workers", 'w', "N", 0, "threads that sketch, 0 (the default) for one a processor", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    rebuild_options, parse, "[PATH]",
    "Make everything that is stored about the tree that PATH (or the working directory) is in "
    "anew, "
    "under the same policy and secret key. What was there stays in place until the new is "
    "complete; "
    "clusters keep their ids. The tree must not be mounted. Mends a damaged store, as kinfs check "
    "--repair does, which reads no document again that need not be.",
    children};

int cmd_rebuild(int argc, char **argv)
{
    struct rebuild_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_parse(&parser, argc, argv, &options);
    command_configuration(options.config, &configuration);
    struct rebuild rebuild = {.at = &location,
                              .configuration = &configuration,
                              .rules = options.config ? &configuration.documents : NULL,
                              .n_workers = options.n_workers};
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r >= 0)
        r = rebuild_store(&rebuild, &error);
    if (r >= 0 && options.common.json) {
        _cleanup_json_ struct json_object *row = json_object_new_object();
        work_add_count(row, "documents", rebuild.documents);
        work_add_count(row, "clusters", rebuild.clusters);
        work_add_count(row, "skipped", rebuild.skipped);
        command_print_json(row);
    } else if (r >= 0) {
        printf("%s in %s\n", counted(rebuild.documents, "document").text,
               counted(rebuild.clusters, "cluster").text);
    }
    return command_end(r, error);
}
