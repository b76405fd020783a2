/* kinfs watch: what becomes of clusters, as it happens. The daemon is asked again and again what
 * has changed since the last answer, so that no thread of it waits for who watches. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/commands/command.h"
#include "tools/commands/watch/watch_event.h"
#include "tools/questions/control.h"
#include "tools/show/json_path.h"

enum {
    ASK_AGAIN_MS = 500,
    EVENTS_MAX = 1 << 18, /* of an answer: more than a daemon has room for */
};

struct watch_options {
    struct command_options common;
    const char *program, *base;
    double near, decay;
    bool absolute;
    struct json_object *events; /* of an answer */
    bool has_ended;             /* the cursor came, which is its last row */
    bool has_more;              /* and there are others behind it */
    uint64_t instance, next;    /* of the cursor; none before the first answer */
};

enum { OPTION_NEAR = 0x100, OPTION_EXEC, OPTION_DECAY };

/* More a day than leaves something after a tenth of a second is a slip. */
static double parse_decay(const struct argp_state *state, const char *argument)
{
    char *end;
    const double decay = strtod(argument, &end);
    if (end == argument || *end || !(decay > 0 && decay <= 1e7))
        argp_error(state, "--decay takes a number above 0, of a day, not '%s'", argument);
    return decay;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct watch_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_NEAR:
        options->near = command_parse_ratio(state, "--near", argument);
        if (options->near < WATCH_NEAR_LEAST)
            argp_error(state, "--near takes a number from %.1f to 1, not '%s'", WATCH_NEAR_LEAST,
                       argument);
        return 0;
    case OPTION_DECAY: options->decay = parse_decay(state, argument); return 0;
    case OPTION_EXEC: options->program = argument; return 0;
    case 'a': options->absolute = true; return 0;
    case ARGP_KEY_END:
        if (options->program && options->common.json)
            argp_error(state, "--exec and --json exclude each other");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option watch_options[] = {
    {"near", OPTION_NEAR, "R", 0,
     "documents are near-identical from this resemblance on (default: 0.95)", 0},
    {"decay", OPTION_DECAY, "LAMBDA", 0,
     "two documents modified D days apart are as near as their resemblance times exp(-LAMBDA D): "
     "what is of about the same time. Each earlier one that a document which came is near to is "
     "told of, with this behind the cluster",
     0},
    {"exec", OPTION_EXEC, "PROGRAM", 0,
     "instead of printing a line run PROGRAM EVENT PATH OTHER RESEMBLANCE, with absolute paths; "
     "one "
     "at a time, by no shell",
     0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    watch_options, parse, "[PATH]",
    "Follow the clusters of the mounted tree that PATH (or the working directory) is in, and print "
    "a line for each document that joins one or leaves one, or becomes near-identical to another, "
    "and for each cluster that becomes part of another: the event, the path, the representative or "
    "the other document, the resemblance to that, and the cluster, with tabs between. Ends when "
    "interrupted, or with the mount.",
    children};

/* -- its end -- */

static volatile sig_atomic_t is_interrupted;

static void interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

static void end_when_interrupted(void)
{
    const struct sigaction action = {.sa_handler = interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void wait_a_moment(void)
{
    const struct timespec moment = {.tv_nsec = ASK_AGAIN_MS * 1000000L};
    if (!is_interrupted)
        nanosleep(&moment, NULL);
}

/* -- answers -- */

/* All of an answer is taken before any of it is told: a program, or whoever reads what is printed,
 * may take any time, and the daemon waits for nobody. It puts the events of some hundred changes
 * into one, and of their last step. */
static int take_row(void *user, struct json_object *row)
{
    struct watch_options *options = user;
    if (!row)
        return -ENOMEM;
    if (json_object_object_get_ex(row, "event", NULL) &&
        json_object_array_length(options->events) >= EVENTS_MAX) {
        json_object_put(row);
        return -EPROTO;
    }
    if (json_object_object_get_ex(row, "event", NULL))
        return json_object_array_add(options->events, row) == 0 ? 0 : -ENOMEM;
    options->has_ended = true;
    options->instance = command_count(row, "instance");
    options->next = command_count(row, "next");
    options->has_more = json_object_object_get_ex(row, "more", NULL);
    json_object_put(row);
    return options->instance ? 0 : -EPROTO;
}

/* base: of the paths of the row, where they are to be absolute, and are not; NULL */
static int tell_event(const struct watch_options *options, struct json_object *row,
                      const char *base)
{
    if (options->program)
        return watch_event_run(options->program, base, row);
    watch_event_print(row, base, options->common.json);
    return fflush(stdout) == 0 ? 0 : -EIO;
}

static int tell_events(struct watch_options *options)
{
    const char *base = options->absolute || options->program ? options->base : NULL;
    int r = 0;
    for (size_t i = 0; r == 0 && !is_interrupted && i < json_object_array_length(options->events);
         i++)
        r = tell_event(options, json_object_array_get_idx(options->events, i), base);
    return r;
}

static int ask_once(struct watch_options *options, const char *store, char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    json_object_object_add(request, "command", json_object_new_string("watch"));
    json_object_object_add(request, "near", json_object_new_double(options->near));
    if (options->decay > 0)
        json_object_object_add(request, "decay", json_object_new_double(options->decay));
    work_add_count(request, "instance", options->instance);
    work_add_count(request, "next", options->next);
    _cleanup_json_ struct json_object *events = json_object_new_array();
    options->events = events;
    options->has_ended = false;
    int r = control_ask(store, request, take_row, options, ret_error);
    if (r == 0 && !options->has_ended)
        return refuse(ret_error, -EPROTO, "the daemon's answer is not understood");
    return r < 0 ? r : tell_events(options);
}

/* From here on nothing is missed. */
static int tell_begun(struct watch_options *options)
{
    _cleanup_json_ struct json_object *row = json_object_new_object();
    json_object_object_add(row, "event", json_object_new_string("watching"));
    json_path_add(row, "path", options->base);
    return tell_event(options, row, NULL);
}

/* A daemon that is there no more, or another one, is the end of the mount. */
static bool is_end_of_mount(int r)
{
    return r == -ECONNREFUSED || r == -EPIPE || r == -ESTALE || r == -ESHUTDOWN;
}

static int follow(struct watch_options *options, const char *store, char **ret_error)
{
    int r = ask_once(options, store, ret_error);
    if (r == -ECONNREFUSED) {
        free(TAKE_PTR(*ret_error));
        return refuse(ret_error, r, "%s: not mounted; what is to be watched has to be",
                      options->base);
    }
    if (r == 0)
        r = tell_begun(options);
    while (r == 0 && !is_interrupted) {
        if (!options->has_more)
            wait_a_moment();
        if (is_interrupted)
            break;
        free(TAKE_PTR(*ret_error));
        r = ask_once(options, store, ret_error);
        if (r == -EBUSY) { /* it answers as many others as it can */
            options->has_more = false;
            r = 0;
        }
        if (is_end_of_mount(r))
            break;
    }
    return is_interrupted || is_end_of_mount(r) ? 0 : r;
}

int cmd_watch(int argc, char **argv)
{
    struct watch_options options = {.near = WATCH_NEAR_DEFAULT};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    options.base = location.base;
    end_when_interrupted();
    r = follow(&options, location.store, &error);
    return command_end(r, error);
}
