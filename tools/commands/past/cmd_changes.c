/* kinfs changes: births, deaths, moves and changes in a directory, by days or weeks (Broder et al.
 * 1997, section 6: how do pages change over time). The asker says where periods begin, as days are
 * those of where he is; the daemon counts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/commands/past/gone_path.h"
#include "tools/commands/past/past_row.h"
#include "tools/options/duration.h"
#include "tools/show/json_path.h"

enum { PERIODS_MAX = 4000, N_CLASSES = 10 };
#define SECOND_NS UINT64_C(1000000000)

/* -- with the index -- */

struct period {
    uint64_t begin_ns;
    uint64_t n_born, n_died, n_moved, n_directories, n_changed;
    uint64_t n_compared;
    double change; /* of these, 1 - resemblance, added */
};

struct counting {
    struct period *periods;
    size_t n_periods;
    uint64_t classes[N_CLASSES]; /* of resemblances: below 0.1, and so on */
};

static struct period *period_of(const struct counting *counting, uint64_t time_ns)
{
    struct period *found = NULL;
    size_t first = 0, end = counting->n_periods;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (counting->periods[middle].begin_ns <= time_ns) {
            found = &counting->periods[middle];
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return found;
}

static int count(void *user, const struct index_past *past)
{
    struct counting *counting = user;
    struct period *period = period_of(counting, past->time_ns);
    if (!period)
        return 0;
    period->n_born += past->kind == INDEX_PAST_BORN;
    period->n_died += past->kind == INDEX_PAST_DIED;
    period->n_moved += past->kind == INDEX_PAST_MOVED;
    period->n_directories += past->kind == INDEX_PAST_DIRECTORY;
    period->n_changed += past->kind == INDEX_PAST_CHANGED;
    if (past->kind != INDEX_PAST_CHANGED || isnan(past->resemblance))
        return 0;
    const size_t class = (size_t)(past->resemblance * N_CLASSES);
    counting->classes[class < N_CLASSES ? class : N_CLASSES - 1]++;
    period->n_compared++;
    period->change += 1 - past->resemblance;
    return 0;
}

static struct json_object *period_row(const struct period *period)
{
    struct json_object *row = json_object_new_object();
    work_add_count(row, "begin", period->begin_ns / SECOND_NS);
    work_add_count(row, "born", period->n_born);
    work_add_count(row, "died", period->n_died);
    work_add_count(row, "moved", period->n_moved);
    work_add_count(row, "directories_moved", period->n_directories);
    work_add_count(row, "changed", period->n_changed);
    json_object_object_add(row, "change", json_object_new_double(period->change));
    work_add_ratio(row, "resemblance_mean",
                   period->n_compared ? 1 - period->change / (double)period->n_compared : NAN);
    return row;
}

static int tell(const struct counting *counting, row_fn row, void *user)
{
    int r = 0;
    for (size_t i = 0; r == 0 && i < counting->n_periods; i++)
        r = row(user, period_row(&counting->periods[i]));
    if (r < 0)
        return r;
    struct json_object *all = json_object_new_object(), *classes = json_object_new_array();
    for (size_t i = 0; i < N_CLASSES; i++) {
        struct json_object *step = json_object_new_object();
        json_object_object_add(step, "below", json_object_new_double((double)(i + 1) / N_CLASSES));
        work_add_count(step, "changes", counting->classes[i]);
        json_object_array_add(classes, step);
    }
    json_object_object_add(all, "resemblances", classes);
    return row(user, all);
}

static int read_periods(struct json_object *request, struct counting *counting, char **ret_error)
{
    struct json_object *begins;
    const bool there = json_object_object_get_ex(request, "begins", &begins) &&
                       json_object_is_type(begins, json_type_array);
    const size_t n = there ? json_object_array_length(begins) : 0;
    if (n == 0 || n > PERIODS_MAX)
        return refuse(ret_error, -EINVAL, "the request has no periods");
    counting->periods = calloc(n, sizeof(counting->periods[0]));
    if (!counting->periods)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const uint64_t second = json_object_get_uint64(json_object_array_get_idx(begins, i));
        counting->periods[i].begin_ns = second < UINT64_MAX / SECOND_NS ? second * SECOND_NS : 0;
        if (i && counting->periods[i].begin_ns <= counting->periods[i - 1].begin_ns)
            return refuse(ret_error, -EINVAL, "the periods of the request do not ascend");
    }
    counting->n_periods = n;
    return 0;
}

int work_changes(const struct work_context *context, struct json_object *request, row_fn row,
                 void *user, char **ret_error)
{
    const struct index_query query = {.stop = context->stop, .stop_user = context->stop_user};
    struct counting counting = {0};
    _cleanup_free_ char *path = NULL;
    uint64_t n_damaged = 0;
    if (json_path_get(request, "path", &path) < 0)
        return refuse(ret_error, -EINVAL, "the request has no path");
    int r = read_periods(request, &counting, ret_error);
    if (r == 0) {
        work_catch_up(context);
        r = index_changes(context->index, path, counting.periods[0].begin_ns, &query, count,
                          &counting, &n_damaged);
        if (r < 0)
            refuse(ret_error, r, "%s: %s", work_shown(request, "path"), error_text(r));
    }
    if (r == 0)
        r = tell(&counting, row, user);
    free(counting.periods);
    return r == 0 && n_damaged ? row(user, past_damaged_row(n_damaged)) : r;
}

/* -- the command -- */

struct changes_options {
    struct command_options common;
    const char *base;
    uint64_t since_s;
    bool by_week;
    struct json_object *rows; /* of the periods */
    struct json_object *classes;
};

enum { OPTION_SINCE = 0x100, OPTION_BY };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct changes_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case OPTION_SINCE:
        if (duration_parse(argument, &options->since_s) < 0 || options->since_s == 0)
            argp_error(state, "--since takes " DURATION_FORMS ", not '%s'", argument);
        return 0;
    case OPTION_BY:
        options->by_week = strcmp(argument, "week") == 0;
        if (!options->by_week && strcmp(argument, "day") != 0)
            argp_error(state, "--by takes day or week, not '%s'", argument);
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option changes_options[] = {
    {"since", OPTION_SINCE, "TIME", 0, "how far back, as 30d, 12w or 1y (default 30d)", 0},
    {"by", OPTION_BY, "PERIOD", 0, "day or week (default day)", 0},
    {0},
};
static const struct argp_child children[] = {{&command_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    changes_options, parse, "[DIRECTORY]",
    "Print for each day or week what became of the documents that were in DIRECTORY (in the "
    "working directory; with --store alone, in its whole tree): how many were born, died, moved "
    "away, how many directories moved, how many changed, and by how much in all "
    "(1 - resemblance of each change, added), with a bar: + born, ~ changed, > moved, - died. Then "
    "how many changes left how much. For root and the owner of the mount, or store, alone.",
    children};

/* The beginning of a local day, or of its week (Monday), `back` of them ago. */
static time_t period_begin(time_t now, bool by_week, int back)
{
    struct tm local;
    if (!localtime_r(&now, &local))
        return 0;
    const int weekday = (local.tm_wday + 6) % 7;
    local.tm_hour = local.tm_min = local.tm_sec = 0;
    local.tm_mday -= by_week ? weekday + 7 * back : back;
    local.tm_isdst = -1;
    return mktime(&local);
}

static int add_begins(struct json_object *request, const struct changes_options *options,
                      char **ret_error)
{
    struct json_object *begins = json_object_new_array();
    const time_t now = time(NULL);
    const time_t since = options->since_s < (uint64_t)now ? now - (time_t)options->since_s : 0;
    int back = 0;
    json_object_object_add(request, "begins", begins);
    while (period_begin(now, options->by_week, back) > since && back <= PERIODS_MAX)
        back++;
    if (back >= PERIODS_MAX)
        return refuse(ret_error, -EINVAL,
                      "--since goes back more than %d %s; take --by=week, or less", PERIODS_MAX,
                      options->by_week ? "weeks" : "days");
    for (; back >= 0; back--)
        json_object_array_add(begins,
                              json_object_new_int64(period_begin(now, options->by_week, back)));
    return 0;
}

static int take_row(void *user, struct json_object *row)
{
    struct changes_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *classes;
    if (!taken)
        return -ENOMEM;
    if (past_row_is_damage(taken, options->base))
        return 0;
    if (json_object_object_get_ex(taken, "resemblances", &classes)) {
        if (!command_is_list(taken, "resemblances", json_type_object))
            return -EPROTO;
        if (options->common.json)
            command_print_json(taken);
        json_object_put(options->classes);
        options->classes = json_object_get(classes);
        return 0;
    }
    if (options->common.json)
        command_print_json(taken);
    else
        json_object_array_add(options->rows, TAKE_PTR(taken));
    return 0;
}

static uint64_t all_of(struct json_object *row)
{
    return command_count(row, "born") + command_count(row, "changed") +
           command_count(row, "moved") + command_count(row, "died");
}

enum { BAR_WIDTH = 40 };

static void print_bar(uint64_t n, uint64_t most, char sign)
{
    const uint64_t length = n == 0 ? 0 : most <= BAR_WIDTH ? n : (n * BAR_WIDTH + most - 1) / most;
    for (uint64_t i = 0; i < length && i < BAR_WIDTH; i++)
        putchar(sign);
}

static void print_period(struct json_object *row, uint64_t most)
{
    struct json_object *change;
    char day[32] = "";
    struct tm local;
    const time_t begin = (time_t)command_count(row, "begin");
    if (localtime_r(&begin, &local))
        strftime(day, sizeof(day), "%Y-%m-%d", &local);
    const double amount =
        json_object_object_get_ex(row, "change", &change) ? json_object_get_double(change) : 0;
    printf("%s %7llu %7llu %7llu %7llu %7llu %9.2f  ", day,
           (unsigned long long)command_count(row, "born"),
           (unsigned long long)command_count(row, "died"),
           (unsigned long long)command_count(row, "moved"),
           (unsigned long long)command_count(row, "directories_moved"),
           (unsigned long long)command_count(row, "changed"), amount);
    print_bar(command_count(row, "born"), most, '+');
    print_bar(command_count(row, "changed"), most, '~');
    print_bar(command_count(row, "moved"), most, '>');
    print_bar(command_count(row, "died"), most, '-');
    putchar('\n');
}

static void print_table(const struct changes_options *options)
{
    const size_t n = json_object_array_length(options->rows);
    uint64_t most = 1;
    for (size_t i = 0; i < n; i++) {
        const uint64_t all = all_of(json_object_array_get_idx(options->rows, i));
        most = all > most ? all : most;
    }
    printf("%-10s %7s %7s %7s %7s %7s %9s\n", options->by_week ? "week of" : "day", "born", "died",
           "moved", "dirs", "changed", "change");
    for (size_t i = 0; i < n; i++)
        print_period(json_object_array_get_idx(options->rows, i), most);
}

static void print_classes(struct json_object *classes)
{
    const size_t n = classes ? json_object_array_length(classes) : 0;
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t count_of = command_count(json_object_array_get_idx(classes, i), "changes");
        most = count_of > most ? count_of : most;
    }
    if (most == 0)
        return;
    printf("\n%-10s %7s\n", "left", "changes");
    for (size_t i = n; i-- > 0;) {
        const uint64_t count_of = command_count(json_object_array_get_idx(classes, i), "changes");
        printf("%3zu-%3zu %%  %7llu  ", 10 * i, 10 * i + 10, (unsigned long long)count_of);
        print_bar(count_of, most, '#');
        putchar('\n');
    }
}

int cmd_changes(int argc, char **argv)
{
    struct changes_options options = {.since_s = 30 * 86400};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = gone_path_locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    _cleanup_json_ struct json_object *request = json_object_new_object();
    _cleanup_json_ struct json_object *rows = json_object_new_array();
    options.rows = rows;
    options.base = location.base;
    command_add_path(request, "path", options.common.path ? options.common.path : ".",
                     location.path);
    r = add_begins(request, &options, &error);
    const struct ask question = {.location = &location, .command = "changes"};
    if (r == 0)
        r = ask(&question, request, take_row, &options, &error);
    if (r == 0 && !options.common.json) {
        print_table(&options);
        print_classes(options.classes);
    }
    json_object_put(options.classes);
    return command_end(r, error);
}
