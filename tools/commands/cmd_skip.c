/* kinfs skip: what unique/ leaves out, as the lists of exclusions of backup tools. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/room.h"
#include "tools/commands/command.h"
#include "tools/commands/skip_work.h"
#include "tools/questions/mounts.h"
#include "tools/show/exclude_pattern.h"
#include "tools/show/json_line.h"
#include "tools/show/json_path.h"

struct left_out {
    char *path; /* in the tree */
    char *json; /* with --json */
};

struct skip_options {
    struct command_options common;
    const char *configuration_file, *as;
    const struct exclude_format *format;
    const char *below; /* of the tree: what is backed up */
    struct left_out *left_out;
    size_t n, room;
};

enum { OPTION_FORMAT = 0x100, OPTION_AS };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct skip_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_FORMAT:
        options->format = exclude_format_of(argument);
        if (!options->format)
            argp_error(state, "--format takes one of: restic, borg, rsync, tar, bsdtar, rclone, "
                              "duplicity, kopia or plain0");
        return 0;
    case 'c': options->configuration_file = argument; return 0;
    case OPTION_AS:
        if (*argument != '/')
            argp_error(state, "--as takes an absolute path");
        options->as = argument;
        return 0;
    case ARGP_KEY_END:
        if (!options->format == !options->common.json)
            argp_error(state, "name a --format, or --json");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option skip_options[] = {
    {"format", OPTION_FORMAT, "TOOL", 0,
     "restic, borg, rsync, tar, bsdtar, rclone, duplicity, kopia, or plain0: paths, each with a "
     "NUL "
     "behind it",
     0},
    {"as", OPTION_AS, "DIRECTORY", 0,
     "the directory's path as the tool is told it, where that is another (restic, borg, duplicity, "
     "plain0)",
     0},
    {"config", 'c', "FILE", 0, "where nothing is mounted: for [unique] (/etc/kinfs/kinfs.conf)", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    skip_options, parse, "[DIRECTORY]",
    "Print what unique/ leaves out of DIRECTORY (of the working directory), as a list of "
    "exclusions for a backup tool: documents for which another one in DIRECTORY stands in. What "
    "the format cannot say exactly is named, and is in the backup. A list is of its moment: copy "
    "unique/ itself where documents change meanwhile.",
    children};

static void options_done(struct skip_options *options)
{
    for (size_t i = 0; i < options->n; i++) {
        free(options->left_out[i].path);
        free(options->left_out[i].json);
    }
    free(options->left_out);
}

/* -- asking -- */

/* Returns the path from the directory on, NULL where it is not below it. */
static const char *below(const struct skip_options *options, const char *path)
{
    const char *rest = path;
    return !*options->below || path_within(path, options->below, &rest) ? rest : NULL;
}

static char *line_of(struct json_object *row)
{
    char *line = NULL;
    size_t n_bytes;
    FILE *memory = open_memstream(&line, &n_bytes);
    if (!memory)
        return NULL;
    json_line_print(memory, row);
    if (fclose(memory) == 0)
        return line;
    free(line);
    return NULL;
}

/* The document that stands in for it has to be in the same backup. */
static int add_row(void *user, struct json_object *row)
{
    struct skip_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    _cleanup_free_ char *path = NULL, *stand_in = NULL, *json = NULL;
    if (!row || json_path_get(row, "path", &path) < 0 ||
        json_path_get(row, "stand_in", &stand_in) < 0)
        return -EPROTO;
    if (!below(options, path) || !below(options, stand_in))
        return 0;
    if (options->common.json)
        json = line_of(taken);
    if ((options->common.json && !json) ||
        !MAKE_ROOM(options->left_out, options->room, options->n + 1))
        return -ENOMEM;
    options->left_out[options->n++] = (struct left_out){TAKE_PTR(path), TAKE_PTR(json)};
    return 0;
}

static int ask_all(struct skip_options *options, const struct location *location, char **ret_error)
{
    _cleanup_(configuration_done) struct configuration configuration = {0};
    _cleanup_json_ struct json_object *request = json_object_new_object();
    command_configuration(options->configuration_file, &configuration);
    skip_add_rules(request, &configuration.unique);
    const struct ask question = {.location = location, .command = "skip"};
    return ask(&question, request, add_row, options, ret_error);
}

/* -- printing -- */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct left_out *)a)->path, ((const struct left_out *)b)->path);
}

/* The path as the tool has it: from the directory on, or whole. */
static char *path_for_tool(const struct skip_options *options, const struct location *location,
                           const char *path)
{
    const char *rest = below(options, path);
    if (!exclude_format_is_absolute(options->format))
        return message("%s", rest);
    if (options->as)
        return message("%s/%s", strcmp(options->as, "/") == 0 ? "" : options->as, rest);
    return message("%s/%s", strcmp(location->base, "/") == 0 ? "" : location->base, path);
}

/* A tool gets the pattern as it is, and a terminal, which could obey what is in a name, none of its
 * control characters. */
static void print_text(char *text, size_t n_bytes)
{
    if (!isatty(STDOUT_FILENO)) {
        fwrite(text, 1, n_bytes, stdout);
        return;
    }
    text[n_bytes - 1] = '\0';
    puts(escape_make_plain(text));
}

static int print_pattern(const struct skip_options *options, const struct location *location,
                         const struct left_out *left_out)
{
    _cleanup_free_ char *path = path_for_tool(options, location, left_out->path), *text = NULL;
    size_t n_bytes;
    int r = path ? exclude_pattern_make(options->format, path, &text, &n_bytes) : -ENOMEM;
    if (r == 0)
        print_text(text, n_bytes);
    if (r == -EILSEQ)
        complain("%s: cannot be said in this format; is in the backup", path);
    return r == -EILSEQ ? 0 : r;
}

static int print_all(struct skip_options *options, const struct location *location)
{
    int r = 0;
    if (options->n)
        qsort(options->left_out, options->n, sizeof(*options->left_out), by_path);
    for (size_t i = 0; r == 0 && i < options->n; i++)
        if (options->common.json)
            fputs(options->left_out[i].json, stdout);
        else
            r = print_pattern(options, location, &options->left_out[i]);
    return r;
}

int cmd_skip(int argc, char **argv)
{
    _cleanup_(options_done) struct skip_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    options.below = location.path ? location.path : "";
    if (r == 0 && location.is_file)
        r = refuse(&error, -ENOTDIR, "%s: no directory", options.common.path);
    if (r == 0)
        r = ask_all(&options, &location, &error);
    if (r == 0)
        r = print_all(&options, &location);
    return command_end(r, error);
}
