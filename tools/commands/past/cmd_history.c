/* kinfs history: what a document was, and when. */
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/commands/past/gone_path.h"
#include "tools/commands/past/past_row.h"
#include "tools/show/json_path.h"

/* -- with the index -- */

struct told_file {
    struct file_key key;
    size_t number;
};

struct telling {
    row_fn row;
    void *user;
    void *files; /* that were told of, of tsearch(3): at one path there may be very many */
    size_t n_files;
};

static int compare_files(const void *a, const void *b)
{
    const struct told_file *x = a, *y = b;
    return file_key_compare(&x->key, &y->key);
}

/* Its number among those told of, from 1 on in their order; 0 without memory. */
static size_t number_of(struct telling *telling, const struct file_key *file)
{
    struct told_file *told = malloc(sizeof(*told));
    if (!told)
        return 0;
    *told = (struct told_file){*file, telling->n_files + 1};
    struct told_file **node = tsearch(told, &telling->files, compare_files);
    if (!node || *node != told)
        free(told);
    else
        telling->n_files++;
    return node ? (*node)->number : 0;
}

static int tell(void *user, const struct index_past *past)
{
    struct telling *telling = user;
    const size_t number = number_of(telling, &past->key);
    struct json_object *row = number ? past_row(past) : NULL;
    if (!row)
        return -ENOMEM;
    work_add_ratio(row, "resemblance", past->resemblance);
    work_add_count(row, "document", number);
    return telling->row(telling->user, row);
}

int work_history(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    struct telling telling = {.row = row, .user = user};
    const struct index_query query = {.stop = context->stop, .stop_user = context->stop_user};
    _cleanup_free_ char *path = NULL;
    uint64_t n_damaged = 0;
    if (json_path_get(request, "path", &path) < 0)
        return refuse(ret_error, -EINVAL, "the request has no path");
    work_catch_up(context);
    int r = index_history(context->index, path, &query, tell, &telling, &n_damaged);
    tdestroy(telling.files, free);
    if (r == -ENOENT && n_damaged)
        return refuse(ret_error, -EUCLEAN,
                      "%s: what is remembered of it is damaged; kinfs check --repair drops that",
                      work_shown(request, "path"));
    if (r == -ENOENT)
        return refuse(ret_error, -ENODATA,
                      "%s: no document of the tree, and none is remembered that was",
                      work_shown(request, "path"));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", work_shown(request, "path"), error_text(r));
    return n_damaged ? row(user, past_damaged_row(n_damaged)) : 0;
}

/* -- the command -- */

struct history_options {
    struct command_options common;
    const char *base;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct history_options *options = state->input;
    (void)argument;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &options->common;
    return 0;
}

static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    NULL, parse, "FILE",
    "Print what was at FILE, and what its document was elsewhere, the oldest first: when it ended, "
    "how (changed: another content of the same file came; moved; died; now: as it is), its bytes, "
    "its resemblance to the content that followed, the number of the document, where it was. Of a "
    "document 16 contents are remembered at most: the first, the last, and some spread in time. "
    "For root and the owner of the mount, or store, alone. Exit code 1 when nothing is remembered.",
    children};

static int print_row(void *user, struct json_object *row)
{
    struct history_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (past_row_is_damage(taken, options->base))
        return 0;
    if (options->common.json) {
        command_print_json(taken);
        return 0;
    }
    printf("%s\t%s\t%llu\t", past_time_text((int64_t)command_count(taken, "time")).text,
           command_text(taken, "event"), (unsigned long long)command_count(taken, "size_bytes"));
    command_print_ratio(taken, "resemblance");
    printf("\t%llu\t", (unsigned long long)command_count(taken, "document"));
    command_print_path(taken, "path", false);
    putchar('\n');
    return 0;
}

int cmd_history(int argc, char **argv)
{
    struct history_options options = {.common.needs_path = true};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = gone_path_locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    options.base = location.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_add_path(request, "path", options.common.path, location.path);
    const struct ask question = {.location = &location, .command = "history"};
    r = ask(&question, request, print_row, &options, &error);
    return command_end(r, error);
}
