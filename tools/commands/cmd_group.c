/* kinfs group: of paths on standard input, one of each cluster. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/room.h"
#include "tools/commands/command.h"
#include "tools/commands/group_work.h"
#include "tools/questions/tree_paths.h"
#include "tools/show/json_path.h"

/* -- the paths -- */

struct found_path {
    char *given;
    char *path;         /* in the tree; NULL: it is in none, or not known there */
    bool elsewhere;     /* to be looked at where it leads */
    bool represents;    /* its cluster */
    bool is_reference;  /* is in a reference directory, and printed in any case */
    uint64_t cluster;   /* 0: none */
    double resemblance; /* to the representative; negative: none was found */
    uint32_t leader;    /* which path is printed for it: its own, where it is */
    uint32_t next;      /* of the same leader; UINT32_MAX: none */
    bool is_printed;
};

struct group_options {
    const char *tree, *store, *configuration_file;
    double least; /* 0: any of a cluster */
    bool json, null, all;
};

struct group {
    const struct group_options *options;
    struct index_unique_options rules; /* where no mount has its own */
    struct found_path *paths;
    uint32_t n;
    size_t room;
    /* The paths that are asked about, in this order; the next request begins with the one at
     * `next` */
    uint32_t *order, n_order, next;
    double least;
};

static void group_done(struct group *group)
{
    for (uint32_t i = 0; i < group->n; i++) {
        free(group->paths[i].given);
        free(group->paths[i].path);
    }
    free(group->paths);
    free(group->order);
}

static int add_path(struct group *group, const char *given)
{
    if (group->n == UINT32_MAX - 1)
        return -EOVERFLOW;
    if (!MAKE_ROOM(group->paths, group->room, group->n + 1))
        return -ENOMEM;
    char *copy = strdup(given);
    if (!copy)
        return -ENOMEM;
    group->paths[group->n] =
        (struct found_path){.given = copy, .leader = group->n, .next = UINT32_MAX};
    group->n++;
    return 0;
}

static int read_paths(struct group *group, char **ret_error)
{
    const char end = group->options->null ? '\0' : '\n';
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int r = 0;
    errno = 0;
    while (r == 0 && (n = getdelim(&line, &room, end, stdin)) >= 0) {
        if (n > 0 && line[n - 1] == end)
            line[--n] = '\0';
        if (strlen(line) < (size_t)n)
            return refuse(ret_error, -EINVAL,
                          "the paths on standard input have a NUL between them; read them by -0");
        r = add_path(group, line);
    }
    if (r == 0 && !feof(stdin))
        r = errno ? -errno : -EIO;
    return r < 0 ? refuse(ret_error, r, "standard input: %s", strerror(-r)) : 0;
}

/* -- asking -- */

/* A request takes 64 KiB at most, and a path of odd bytes seven times its length. */
enum { REQUEST_BYTES = 60 << 10, LEADERS_BYTES = 16 << 10 };

static struct json_object *asked_of(const struct group *group, uint32_t i, bool leads)
{
    const struct found_path *path = &group->paths[i];
    struct json_object *asked = group_row(i);
    json_path_add(asked, "path", path->path);
    if (group->least > 0)
        work_add_count(asked, "cluster", path->cluster);
    if (index_unique_is_reference(&group->rules, path->path))
        json_object_object_add(asked, "reference", json_object_new_boolean(true));
    if (leads)
        json_object_object_add(asked, "leads", json_object_new_boolean(true));
    return asked;
}

/* There was room for the paths that are asked about. Takes asked. */
static bool put_asked(struct json_object *paths, struct json_object *asked, size_t *n_bytes,
                      size_t most)
{
    size_t n;
    (void)json_object_to_json_string_length(
        asked, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &n);
    if (*n_bytes + n + 1 > most) {
        json_object_put(asked);
        return false;
    }
    *n_bytes += n + 1;
    json_object_array_add(paths, asked);
    return true;
}

/* The leaders of the cluster in which the request before ended, the last ones. */
static void put_leaders(const struct group *group, struct json_object *paths, size_t *n_bytes)
{
    if (group->next == 0)
        return;
    const uint64_t cluster = group->paths[group->order[group->next]].cluster;
    uint32_t leaders[LEADERS_MOST], n = 0;
    for (uint32_t at = group->next; at-- > 0 && n < LEADERS_MOST;) {
        const uint32_t i = group->order[at];
        if (group->paths[i].cluster != cluster)
            break;
        if (group->paths[i].leader == i)
            leaders[n++] = i;
    }
    while (n-- > 0)
        (void)put_asked(paths, asked_of(group, leaders[n], true), n_bytes, LEADERS_BYTES);
}

/* The next request. */
static bool ask_more(void *user, struct json_object *request)
{
    struct group *group = user;
    if (group->next == group->n_order)
        return false;
    struct json_object *paths = json_object_new_array();
    size_t n_bytes = 0;
    if (group->least > 0)
        put_leaders(group, paths, &n_bytes);
    while (group->next < group->n_order &&
           put_asked(paths, asked_of(group, group->order[group->next], false), &n_bytes,
                     REQUEST_BYTES))
        group->next++;
    json_object_object_add(request, "paths", paths);
    return true;
}

static bool ask_next(void *user, struct json_object *request)
{
    json_object_object_add(request, "goes_on", json_object_new_boolean(true));
    return ask_more(user, request);
}

static int take_row(void *user, struct json_object *row)
{
    struct group *group = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *number;
    if (!taken)
        return -ENOMEM;
    const uint64_t i = work_count(taken, "i", UINT64_MAX);
    if (i >= group->n)
        return -EPROTO;
    struct found_path *path = &group->paths[i];
    if (!path->path)
        return -EPROTO; /* it was not asked about */
    path->elsewhere = work_flag(taken, "elsewhere");
    if (json_object_object_get_ex(taken, "leader", &number)) {
        const uint64_t leader = json_object_get_uint64(number);
        if (leader >= group->n || !path->cluster || group->paths[leader].cluster != path->cluster ||
            group->paths[leader].leader != leader)
            return -EPROTO;
        path->leader = (uint32_t)leader;
        return 0;
    }
    path->cluster = work_count(taken, "cluster", 0);
    path->resemblance = work_number(taken, "resemblance", -1);
    path->represents = work_flag(taken, "represents");
    path->is_reference = work_flag(taken, "reference");
    return 0;
}

/* Ask about the paths of the order. */
static int ask_all(struct group *group, const struct location *location, char **ret_error)
{
    const struct ask question = {.location = location, .command = "group", .next = ask_next};
    _cleanup_json_ struct json_object *request = json_object_new_object();
    group->next = 0;
    if (group->least > 0)
        json_object_object_add(request, "min", json_object_new_double(group->least));
    return ask_more(group, request) ? ask(&question, request, take_row, group, ret_error) : 0;
}

static bool is_too_long(const char *path)
{
    return strlen(path) >= PATH_MAX;
}

/* Finds where those lead that are not known by their names. */
static int look_elsewhere(struct group *group, struct tree_paths *tree)
{
    _cleanup_free_ const char **names = calloc(group->n + 1, sizeof(*names));
    _cleanup_free_ char **found = calloc(group->n + 1, sizeof(*found));
    size_t n = 0;
    if (!names || !found)
        return -ENOMEM;
    for (uint32_t i = 0; i < group->n; i++)
        if (group->paths[i].elsewhere)
            names[n++] = group->paths[i].given;
    int r = tree_paths_by_looking(tree, names, n, found);
    n = 0;
    for (uint32_t i = 0; i < group->n; i++) {
        struct found_path *path = &group->paths[i];
        if (!path->elsewhere)
            continue;
        _cleanup_free_ char *before = path->path;
        path->path = found[n++];
        if (path->path && (!before || strcmp(path->path, before) != 0))
            group->order[group->n_order++] = i;
    }
    return r;
}

/* First by their names alone; what is not found so, by where it leads. */
static int find_clusters(struct group *group, struct tree_paths *tree,
                         const struct location *location, char **ret_error)
{
    for (uint32_t i = 0; i < group->n; i++) {
        struct found_path *path = &group->paths[i];
        if (is_too_long(path->given))
            continue;
        path->path = tree_paths_by_name(tree, path->given);
        if (path->path && !is_too_long(path->path))
            group->order[group->n_order++] = i;
        else
            path->elsewhere = true;
    }
    int r = ask_all(group, location, ret_error);
    group->n_order = 0;
    if (r == 0)
        r = look_elsewhere(group, tree);
    return r < 0 ? r : ask_all(group, location, ret_error);
}

/* The order of a cluster has reference directories first, the representative next, then what
 * resembles it most, then short paths. */
static int compare_preference(const void *a, const void *b, void *user)
{
    const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct found_path *paths = user, *x = &paths[i], *y = &paths[j];
    if (x->cluster != y->cluster)
        return x->cluster < y->cluster ? -1 : 1;
    if (x->is_reference != y->is_reference)
        return x->is_reference ? -1 : 1;
    if (x->represents != y->represents)
        return x->represents ? -1 : 1;
    if (x->resemblance != y->resemblance)
        return x->resemblance > y->resemblance ? -1 : 1;
    const size_t m = strlen(x->path), n = strlen(y->path);
    if (m != n)
        return m < n ? -1 : 1;
    const int r = strcmp(x->path, y->path);
    return r ? r : (i > j) - (i < j);
}

static int find_groups(struct group *group, const struct location *location, char **ret_error)
{
    group->n_order = 0;
    for (uint32_t i = 0; i < group->n; i++)
        if (group->paths[i].cluster)
            group->order[group->n_order++] = i;
    qsort_r(group->order, group->n_order, sizeof(*group->order), compare_preference, group->paths);
    group->least = group->options->least;
    if (group->least > 0) {
        int r = ask_all(group, location, ret_error);
        if (r < 0)
            return r;
    } else {
        for (uint32_t at = 1, first = 0; at < group->n_order; at++) {
            struct found_path *path = &group->paths[group->order[at]];
            if (path->cluster != group->paths[group->order[first]].cluster)
                first = at;
            else if (!path->is_reference)
                path->leader = group->order[first];
        }
    }
    /* Each behind its leader, in order. */
    for (uint32_t at = group->n_order; at-- > 0;) {
        struct found_path *path = &group->paths[group->order[at]];
        struct found_path *leader = &group->paths[path->leader];
        if (leader == path)
            continue;
        path->next = leader->next;
        leader->next = group->order[at];
    }
    return 0;
}

/* -- printing -- */

static void add_resemblance(struct json_object *object, const struct found_path *path)
{
    const bool is_known = path->cluster && path->resemblance >= 0;
    work_add_ratio(object, "resemblance", is_known ? path->resemblance : NAN);
}

static void print_json(const struct group *group, const struct found_path *leader)
{
    _cleanup_json_ struct json_object *line = json_object_new_object();
    struct json_object *others = json_object_new_array();
    json_path_add(line, "path", leader->given);
    if (leader->cluster)
        work_add_count(line, "cluster", leader->cluster);
    else
        json_object_object_add(line, "cluster", NULL);
    add_resemblance(line, leader);
    for (uint32_t i = leader->next; i != UINT32_MAX; i = group->paths[i].next) {
        struct json_object *other = json_object_new_object();
        json_path_add(other, "path", group->paths[i].given);
        add_resemblance(other, &group->paths[i]);
        json_object_array_add(others, other);
    }
    json_object_object_add(line, "others", others);
    command_print_json(line);
}

static void print_path(const char *path, bool escapes)
{
    _cleanup_free_ char *escaped = NULL;
    if (escapes && escape_name(path, &escaped) == 0)
        path = escaped;
    fputs(path, stdout);
}

static void print_group(const struct group *group, const struct found_path *leader, bool escapes)
{
    const struct group_options *options = group->options;
    if (options->json) {
        print_json(group, leader);
        return;
    }
    print_path(leader->given, escapes);
    for (uint32_t i = options->all ? leader->next : UINT32_MAX; i != UINT32_MAX;
         i = group->paths[i].next) {
        putchar(options->null ? '\0' : '\t');
        print_path(group->paths[i].given, escapes);
    }
    putchar(options->null ? '\0' : '\n');
    if (options->null && options->all)
        putchar('\0');
}

/* Each group where the first of it was. */
static void print_groups(struct group *group)
{
    const struct group_options *options = group->options;
    const bool escapes = !options->null && (options->all || isatty(STDOUT_FILENO));
    for (uint32_t i = 0; i < group->n; i++) {
        struct found_path *leader = &group->paths[group->paths[i].leader];
        if (leader->is_printed)
            continue;
        leader->is_printed = true;
        print_group(group, leader, escapes);
    }
}

enum { OPTION_ALL = 0x100, OPTION_MIN };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct group_options *options = state->input;
    switch (key) {
    case 'T': options->tree = argument; return 0;
    case 'c': options->configuration_file = argument; return 0;
    case 's': options->store = argument; return 0;
    case OPTION_MIN: options->least = command_parse_ratio(state, "--min", argument); return 0;
    case OPTION_ALL: options->all = true; return 0;
    case 'j': command_set_json(&options->json); return 0;
    case '0': options->null = true; return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option group_options[] = {
    {"all", OPTION_ALL, NULL, 0,
     "print all paths of a group on its line, with tabs between, the printed one first; with -0 a "
     "NUL behind each, and another behind each group",
     0},
    {"min", OPTION_MIN, "R", 0,
     "of a cluster only those are one line that resemble the printed one by at least R", 0},
    {"tree", 'T', "PATH", 0, "ask about the tree that PATH is in, not the working directory", 0},
    {"config", 'c', "FILE", 0,
     "where nothing is mounted: for reference directories of [unique] (" CONFIGURATION_FILE ")", 0},
    {"json", 'j', NULL, 0, "print JSON, an object a line, with all paths", 10},
    {"null", '0', NULL, 0, "paths are read and printed with a NUL behind each, not as lines", 10},
    {"store", 's', "DIRECTORY", 0, "the store, where the path does not tell", 10},
    {0},
};
static const struct argp parser = {
    group_options, parse, "",
    "Read paths, as a search prints them, from standard input, and print one of each cluster: its "
    "representative where that is among them, and each one in a reference directory instead, else "
    "what resembles that most, of equal ones the "
    "shortest path. It stands where the first of its cluster stood. What is in no cluster, not "
    "known or not there is printed as it came. Exit code 1 when there are no paths.",
    NULL};

static int group_paths(struct group *group, char **ret_error)
{
    const struct group_options *options = group->options;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_(tree_paths_done) struct tree_paths tree = {0};
    int r = locate(options->tree, options->store, &location, ret_error);
    if (r == 0)
        r = read_paths(group, ret_error);
    if (r < 0 || group->n == 0)
        return r;
    group->order = malloc(group->n * sizeof(*group->order));
    r = group->order ? tree_paths_init(&location, options->tree, &tree) : -ENOMEM;
    if (r < 0)
        return refuse(ret_error, r, "%s", strerror(-r));
    r = find_clusters(group, &tree, &location, ret_error);
    return r < 0 ? r : find_groups(group, &location, ret_error);
}

int cmd_group(int argc, char **argv)
{
    struct group_options options = {0};
    _cleanup_(group_done) struct group group = {.options = &options};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    _cleanup_(configuration_done) struct configuration configuration = {0};
    command_configuration(options.configuration_file, &configuration);
    group.rules = unique_rules_options(&configuration.unique);
    int r = group_paths(&group, &error);
    if (r == 0)
        print_groups(&group);
    int code = command_end(r, error);
    return code == COMMAND_OK && group.n == 0 ? COMMAND_NO_ANSWER : code;
}
