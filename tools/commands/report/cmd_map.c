/* kinfs map: a cluster as a picture. */
#include <errno.h>
#include <string.h>

#include "tools/commands/command.h"
#include "tools/commands/report/map_svg.h"
#include "tools/commands/report/report_file.h"
#include "tools/commands/report/report_work.h"
#include "tools/show/json_path.h"

struct map_options {
    struct command_options common;
    const char *output;
    uint64_t id;
    size_t most;
    bool force;
};

enum { OPTION_MEMBERS = 0x100, OPTION_FORCE };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct map_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'o': options->output = argument; return 0;
    case OPTION_MEMBERS:
        options->most = command_parse_count(state, "--members", argument, 1, PICTURE_MEMBERS_MOST);
        return 0;
    case OPTION_FORCE: options->force = true; return 0;
    case ARGP_KEY_ARG:
        if (options->id)
            return ARGP_ERR_UNKNOWN; /* the path */
        options->id = command_parse_count(state, "ID", argument, 1, INDEX_CLUSTER_MAX);
        return 0;
    case ARGP_KEY_END:
        if (!options->id)
            argp_usage(state);
        if (!options->output)
            argp_error(state, "name the picture with -o FILE; -o - is standard output");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option map_options[] = {
    {"output", 'o', "FILE", 0, "where the picture goes; - is standard output", 0},
    {"members", OPTION_MEMBERS, "N", 0,
     "most documents that are drawn, evenly taken by their resemblance (default 40)", 0},
    {"force", OPTION_FORCE, NULL, 0, "replace FILE, whatever it is", 0},
    {0},
};
static const struct argp_child children[] = {{&command_file_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    map_options, parse, "ID [PATH]",
    "Draw a cluster, by its id as kinfs clusters prints it, of the tree that PATH (or the working "
    "directory) is in: its documents, near to each other as far as they resemble each other, with "
    "lines between those that do, as SVG. Exit code 1 when there is no such cluster.",
    children};

struct map {
    struct cluster_picture picture;
    bool has_picture;
};

static int take_row(void *user, struct json_object *row)
{
    struct map *map = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (json_object_object_get_ex(taken, "generation", NULL))
        return 0;
    if (map->has_picture)
        return -EPROTO;
    int r = cluster_picture_read(taken, &map->picture);
    map->has_picture = r == 0;
    return r;
}

static int find(const struct map_options *options, struct map *map, char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    _cleanup_json_ struct json_object *request = json_object_new_object(),
                                      *ids = json_object_new_array();
    int r = locate(options->common.path, options->common.store, &location, ret_error);
    if (r < 0)
        return r;
    const struct ask question = {.location = &location, .command = "report"};
    json_object_object_add(request, "what", json_object_new_string(REPORT_PICTURES));
    json_object_array_add(ids, json_object_new_uint64(options->id));
    json_object_object_add(request, "ids", json_object_get(ids));
    work_add_count(request, "most", options->most);
    r = ask(&question, request, take_row, map, ret_error);
    if (r == 0 && !map->has_picture)
        return refuse(ret_error, -ENODATA, "no cluster %llu", (unsigned long long)options->id);
    return r;
}

static int write_picture(const struct map_options *options, struct map *map, char **ret_error)
{
    _cleanup_(report_file_done) struct report_file file = {.directory_fd = -1};
    int r = report_file_open(options->output, MAP_SVG_MARK, options->force, &file, ret_error);
    if (r == 0)
        r = find(options, map, ret_error);
    if (r == 0)
        r = map_svg_print(file.stream, &map->picture, INDEX_CLUSTER_THRESHOLD);
    return r < 0 ? r : report_file_finish(&file, ret_error);
}

int cmd_map(int argc, char **argv)
{
    struct map_options options = {.most = PICTURE_MEMBERS_USUAL};
    struct map map = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = write_picture(&options, &map, &error);
    cluster_picture_done(&map.picture);
    return command_end(r, error);
}
