/* kinfs rebuild: make everything derived anew. */
#include <stdio.h>
#include <string.h>

#include "tools/command.h"
#include "tools/holder.h"
#include "tools/json_path.h"
#include "tools/progress.h"

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
        options->n_workers = (unsigned)command_parse_count(state, "--workers", argument, 256);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option rebuild_options[] = {
    {"config", 'c', "FILE", 0, "the configuration (" CONFIGURATION_FILE ")", 0},
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
    "clusters keep their ids. The tree must not be mounted. Mends a damaged store.",
    children};

struct rebuilding {
    const struct location *at;
    int holder;
    struct progress progress;
    uint64_t documents, clusters, skipped;
};

static void show(void *user, const struct index_status *status)
{
    struct rebuilding *rebuilding = user;
    if (rebuilding->holder < 0) /* not to be told of does no harm */
        (void)holder_hold(rebuilding->at->store, "rebuild", rebuilding->at->source, NULL,
                          &rebuilding->holder);
    rebuilding->documents = status->documents;
    rebuilding->clusters = status->clusters;
    rebuilding->skipped = status->skipped;
    progress_update(&rebuilding->progress, status->scan_done, status->scan_found, status->scanning);
}

/* The engine lets in one at a time; this says who it is. */
static int refuse_held(const char *store, char **ret_error)
{
    _cleanup_(holder_done) struct holder holder = {0};
    if (holder_read(store, &holder) < 0 || !holder.alive)
        return 0;
    _cleanup_free_ char *who = holder_describe(&holder), *remedy = holder_remedy(&holder);
    return refuse(ret_error, -EBUSY, "%s: %s; %s", store, who, remedy);
}

DEFINE_CLEANUP(struct backing *, backing_close);

static int rebuild(const struct rebuild_options *options, const struct configuration *configuration,
                   const struct location *at, struct rebuilding *rebuilding, char **ret_error)
{
    _cleanup_(backing_close_p) struct backing *backing = NULL;
    int r = refuse_held(at->store, ret_error);
    if (r >= 0)
        r = ask_open_tree(at, &backing, ret_error);
    if (r < 0)
        return r;
    const struct index_options index_options = {
        .backing = backing,
        .source = at->source,
        .store_path = at->store,
        .n_workers = options->n_workers,
        .extractors = configuration->extractors,
        .n_extractors = configuration->n_extractors,
        .log = ask_log,
    };
    progress_init(&rebuilding->progress);
    r = index_rebuild(&index_options, show, rebuilding, ret_error);
    progress_done(&rebuilding->progress);
    if (rebuilding->holder >= 0)
        close(TAKE_FD(rebuilding->holder));
    return r;
}

int cmd_rebuild(int argc, char **argv)
{
    struct rebuild_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    struct rebuilding rebuilding = {.at = &location, .holder = -1};
    _cleanup_free_ char *error = NULL;
    _cleanup_(configuration_done) struct configuration configuration = {0};
    argp_parse(&parser, argc, argv, 0, NULL, &options);
    command_configuration(options.config, &configuration);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r >= 0)
        r = rebuild(&options, &configuration, &location, &rebuilding, &error);
    if (r >= 0 && options.common.json) {
        _cleanup_json_ struct json_object *row = json_object_new_object();
        work_add_count(row, "documents", rebuilding.documents);
        work_add_count(row, "clusters", rebuilding.clusters);
        work_add_count(row, "skipped", rebuilding.skipped);
        command_print_json(row);
    } else if (r >= 0) {
        printf("%llu documents in %llu clusters\n", (unsigned long long)rebuilding.documents,
               (unsigned long long)rebuilding.clusters);
    }
    return command_end(r, error);
}
