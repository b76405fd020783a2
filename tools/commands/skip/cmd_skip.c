/* kinfs skip: what unique/ leaves out, as the lists of exclusions of backup tools; with --keep what
 * stays, as their lists of what to take. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/escape.h"
#include "base/room.h"
#include "tools/commands/command.h"
#include "tools/commands/skip/keep_list.h"
#include "tools/commands/skip/skip_work.h"
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
    const char *configuration_file, *as, *format_name;
    bool keep;
    const struct exclude_format *format;   /* without keep */
    const struct keep_format *keep_format; /* with it */
    const char *below;                     /* of the tree: what is backed up */
    struct left_out *left_out;
    size_t n, room;
    /* With keep, of a mount, what the tree has in its root; a listing of the mount has views
     * besides. */
    char **names;
    size_t n_names, names_room;
};

enum { OPTION_FORMAT = 0x100, OPTION_AS };

static void set_format(struct skip_options *options, struct argp_state *state)
{
    const char *name = options->format_name;
    if (!name == !options->common.json)
        argp_error(state, "name a --format, or --json");
    options->format = name ? exclude_format_of(name) : NULL;
    if (name && !options->format)
        argp_error(state, "--format takes one of: restic, borg, rsync, tar, bsdtar, rclone, "
                          "duplicity, kopia or plain0");
    if (!options->keep)
        return;
    options->keep_format = name ? keep_format_of(name) : NULL;
    if (!options->keep_format)
        argp_error(state, "--keep is for --format=" KEEP_FORMATS);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct skip_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_FORMAT: options->format_name = argument; return 0;
    case 'k': options->keep = true; return 0;
    case 'c': options->configuration_file = argument; return 0;
    case OPTION_AS:
        if (*argument != '/')
            argp_error(state, "--as takes an absolute path");
        options->as = argument;
        return 0;
    case ARGP_KEY_END: set_format(options, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option skip_options[] = {
    {"format", OPTION_FORMAT, "TOOL", 0,
     "restic, borg, rsync, tar, bsdtar, rclone, duplicity, kopia, or plain0: paths, each with a "
     "NUL "
     "behind it",
     0},
    {"keep", 'k', NULL, 0,
     "print what stays instead: all files and directories below DIRECTORY but those, "
     "for " KEEP_FORMATS,
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
    "the format cannot say exactly is named, and is in the backup. With --keep a list of what to "
    "take instead; what such a list cannot say is named, and the exit code is 3. A list is of its "
    "moment: copy unique/ itself where documents change meanwhile.",
    children};

static void options_done(struct skip_options *options)
{
    for (size_t i = 0; i < options->n; i++) {
        free(options->left_out[i].path);
        free(options->left_out[i].json);
    }
    free(options->left_out);
    for (size_t i = 0; i < options->n_names; i++)
        free(options->names[i]);
    free(options->names);
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

static int add_name(struct skip_options *options, char *name)
{
    if (!MAKE_ROOM(options->names, options->names_room, options->n_names + 1)) {
        free(name);
        return -ENOMEM;
    }
    options->names[options->n_names++] = name;
    return 0;
}

/* The document that stands in for it has to be in the same backup. */
static int add_row(void *user, struct json_object *row)
{
    struct skip_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    _cleanup_free_ char *path = NULL, *stand_in = NULL, *json = NULL, *name = NULL;
    if (row && options->keep && json_path_get(row, "name", &name) == 0)
        return add_name(options, TAKE_PTR(name));
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
    if (options->keep && !*options->below)
        json_object_object_add(request, "names", json_object_new_boolean(true));
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

/* -- printing what stays -- */

static int compare_left_out(const void *key, const void *item)
{
    const struct skip_options *options = ((const void *const *)key)[0];
    const char *path = ((const void *const *)key)[1];
    return strcmp(path, below(options, ((const struct left_out *)item)->path));
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool leaves_out(void *user, const char *path, bool is_top)
{
    const struct skip_options *options = user;
    const void *const key[] = {options, path};
    if (is_top && options->n_names &&
        !bsearch(&path, options->names, options->n_names, sizeof(*options->names), compare_names))
        return true;
    return options->n && bsearch(key, options->left_out, options->n, sizeof(*options->left_out),
                                 compare_left_out);
}

static int print_kept(struct skip_options *options, const struct location *location,
                      char **ret_error)
{
    const bool is_root = strcmp(location->base, "/") == 0;
    _cleanup_free_ char *directory =
        *options->below ? message("%s/%s", is_root ? "" : location->base, options->below)
                        : message("%s", location->base);
    const struct keep_list list = {.format = options->keep_format,
                                   .directory = directory,
                                   .told = options->as ? options->as : directory,
                                   .leaves_out = leaves_out,
                                   .print = print_text,
                                   .user = options};
    unsigned n_lacking;
    if (options->n)
        qsort(options->left_out, options->n, sizeof(*options->left_out), by_path);
    if (options->n_names)
        qsort(options->names, options->n_names, sizeof(*options->names), compare_names);
    int r = keep_list_print(&list, &n_lacking);
    if (r < 0 || !n_lacking)
        return r;
    return refuse(ret_error, -EIO, "%s: the list lacks %s, named above, and so does a backup by it",
                  directory, counted(n_lacking, "thing").text);
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
        r = options.keep ? print_kept(&options, &location, &error) : print_all(&options, &location);
    return command_end(r, error);
}
