/* kinfs forget: a store is removed. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "tools/commands/command.h"
#include "tools/options/stored_rules.h"
#include "tools/questions/control_wire.h"
#include "tools/questions/holder.h"
#include "tools/questions/locate.h"
#include "tools/questions/patience.h"

static error_t parse(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = state->input;
    return 0;
}

static const struct argp_child children[] = {{&command_plain_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    NULL, parse, "STORE",
    "Remove a store, as kinfs stores prints it: what is known of a tree, and which of its "
    "documents were declared not to be duplicates. The tree stays as it is, and kinfs mount or "
    "kinfs scan makes its store anew. One that is in use is not removed.",
    children};

/* Whoever names a tree, or a directory in one, is told where its store is. */
static int refuse_no_store(const char *path, char **ret_error)
{
    _cleanup_(location_done) struct location at = {0};
    _cleanup_free_ char *why = NULL;
    if (locate(path, NULL, &at, &why) < 0)
        return refuse(ret_error, -ENOENT, "%s is no store; kinfs stores prints which there are",
                      path);
    return refuse(ret_error, -ENOENT, "%s is no store; that of the tree %s is %s", path, at.source,
                  at.store);
}

int cmd_forget(int argc, char **argv)
{
    /* Files that tools have in a store beside the engine. */
    static const char *const others[] = {"holder",         "holder.new",   STORED_RULES,
                                         STORED_RULES_NEW, CONTROL_SOCKET, NULL};
    struct command_options options = {.needs_path = true};
    _cleanup_(holder_done) struct holder holder = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    patience_look(options.path);
    int r = index_remove_store(options.path, others, &error);
    if (r == -EBUSY && holder_read(options.path, &holder) == 0 && holder.alive) {
        _cleanup_free_ char *by = holder_describe(&holder), *remedy = holder_remedy(&holder);
        free(TAKE_PTR(error));
        r = refuse(&error, r, "store %s is %s; %s", options.path, by, remedy);
    } else if (r == -ENOENT) {
        free(TAKE_PTR(error));
        r = refuse_no_store(options.path, &error);
    }
    return command_end(r, error);
}
