#include "tools/commands/report/report_data.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/files/trust.h"
#include "tools/commands/command.h"
#include "tools/commands/report/report_passages.h"
#include "tools/commands/report/report_work.h"
#include "tools/show/json_path.h"

enum {
    PATH_BYTES_MOST = 4 << 20, /* of all members that are drawn */
    TRIES_FOR_ONE = 4,         /* pairs that are read for each one to be shown */
    PASSAGES_MS = 30000,
    PAIR_SHARE = 5, /* a pair may take this part of the time that is left: some is left for all */
    TOLD_EVERY = 4096,
};

void report_done(struct report *report)
{
    json_object_put(report->about);
    json_object_put(report->passages);
    cost_table_done(&report->costs);
    top_clusters_done(&report->top);
    for (size_t i = 0; report->pictures && i < report->most.clusters; i++)
        cluster_picture_done(&report->pictures[i]);
    free(report->pictures);
    *report = (struct report){0};
}

/* -- asking -- */

static int take_document(struct report *report, struct json_object *row)
{
    struct json_object *about;
    _cleanup_free_ char *path = NULL;
    if (json_object_object_get_ex(row, "about", &about) &&
        json_object_is_type(about, json_type_object)) {
        json_object_put(report->about);
        report->about = json_object_get(about);
        return 0;
    }
    if (!report->about || json_path_get(row, "path", &path) < 0)
        return -EPROTO;
    report->n_documents++;
    if (report->n_documents % TOLD_EVERY == 0)
        progress_phase(&report->progress, "documents", report->n_documents,
                       command_count(report->about, "documents"));
    return cost_table_add(&report->costs, path, command_count(row, "size"),
                          command_text(row, "type"));
}

static int take_member(struct report *report, struct json_object *row)
{
    _cleanup_free_ char *path = NULL;
    if (json_path_get(row, "path", &path) < 0)
        return -EPROTO;
    const struct top_member member = {
        .id = command_count(row, "cluster"),
        .path = path,
        .size_bytes = command_count(row, "size"),
        .mtime = json_object_get_int64(json_object_object_get(row, "mtime")),
        .resemblance = work_number(row, "resemblance", 0),
    };
    if (++report->n_told % TOLD_EVERY == 0)
        progress_phase(&report->progress, "members", report->n_told, report->n_documents);
    const bool is_first = top_clusters_is_first(&report->top, member.id);
    int r = top_clusters_add(&report->top, &member);
    return r < 0 || is_first
               ? r
               : cost_table_add_copy(&report->costs, path, member.size_bytes,
                                     command_text(row, "type"), cost_kind_of(member.resemblance));
}

/* One that is not asked for has become what another one is part of. NULL: it is not wanted. */
static struct cluster_picture *picture_of(const struct report *report, uint64_t id)
{
    for (size_t i = 0; i < report->top.n; i++)
        if (report->top.clusters[i].id == id)
            return report->pictures[i].n ? NULL : &report->pictures[i];
    return NULL;
}

static int take_picture(struct report *report, struct json_object *row)
{
    struct cluster_picture picture;
    if (json_object_object_get_ex(row, "generation", NULL)) {
        report->generation = command_count(row, "generation");
        return 0;
    }
    struct cluster_picture *at = picture_of(report, command_count(row, "cluster"));
    if (!at)
        return 0;
    int r = cluster_picture_read(row, &picture);
    if (r < 0)
        return r;
    for (size_t i = 0; i < picture.n; i++)
        report->path_bytes += strlen(picture.members[i].path);
    if (report->path_bytes > PATH_BYTES_MOST) {
        report->n_left_out++;
        cluster_picture_done(&picture);
        return 0;
    }
    *at = picture;
    progress_phase(&report->progress, "pictures", (uint64_t)(at - report->pictures) + 1,
                   report->top.n);
    return 0;
}

static int take_row(void *user, struct json_object *row)
{
    struct report *report = user;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (strcmp(report->what, REPORT_DOCUMENTS) == 0)
        return take_document(report, taken);
    if (strcmp(report->what, REPORT_MEMBERS) == 0)
        return take_member(report, taken);
    return take_picture(report, taken);
}

static void ask_for(struct report *report, struct json_object *request, const char *what)
{
    report->what = what;
    json_object_object_add(request, "what", json_object_new_string(what));
}

static bool ask_next(void *user, struct json_object *request)
{
    struct report *report = user;
    if (strcmp(report->what, REPORT_DOCUMENTS) == 0) {
        ask_for(report, request, REPORT_MEMBERS);
        return true;
    }
    if (strcmp(report->what, REPORT_PICTURES) == 0)
        return false;
    struct json_object *ids = json_object_new_array();
    top_clusters_finish(&report->top);
    for (size_t i = 0; i < report->top.n; i++)
        json_object_array_add(ids, json_object_new_uint64(report->top.clusters[i].id));
    json_object_object_add(request, "ids", ids);
    work_add_count(request, "most", report->most.members);
    ask_for(report, request, REPORT_PICTURES);
    return true;
}

int report_ask(struct report *report, const struct location *at, char **ret_error)
{
    _cleanup_json_ struct json_object *request = json_object_new_object();
    const struct ask question = {.location = at, .command = "report", .next = ask_next};
    report->top.most = report->most.clusters;
    report->pictures = calloc(report->most.clusters, sizeof(*report->pictures));
    if (!report->pictures)
        return -ENOMEM;
    progress_init(&report->progress);
    ask_for(report, request, REPORT_DOCUMENTS);
    int r = ask(&question, request, take_row, report, ret_error);
    progress_done(&report->progress);
    if (r == 0 && !report->about)
        return -EPROTO;
    cost_table_sum(&report->costs);
    return r;
}

/* -- passages -- */

struct pair {
    size_t picture, member; /* of it, beside the first */
};

/* Equal ones come first, then those of less and less resemblance. */
static size_t find_pairs(const struct report *report, struct pair *pairs)
{
    size_t n = 0;
    for (unsigned round = 0; round < 2; round++)
        for (size_t i = 0; i < report->top.n; i++) {
            const struct cluster_picture *picture = &report->pictures[i];
            size_t nearest = 1;
            while (nearest < picture->n && picture->members[nearest].resemblance >= 1)
                nearest++;
            if (nearest >= picture->n)
                continue;
            const size_t least = picture->n - 1;
            if (round == 0 || nearest != least)
                pairs[n++] = (struct pair){i, round == 0 ? least : nearest};
        }
    return n;
}

static int read_pairs(struct report *report, struct report_passages *passages)
{
    const int64_t until_ms = clock_now_ms() + PASSAGES_MS;
    _cleanup_free_ struct pair *pairs = calloc(2 * report->top.n + 1, sizeof(*pairs));
    size_t n_shown = 0, i = 0;
    if (!pairs)
        return -ENOMEM;
    const size_t n = find_pairs(report, pairs);
    for (; i < n && i < TRIES_FOR_ONE * report->most.passages && n_shown < report->most.passages &&
           clock_now_ms() < until_ms;
         i++) {
        const struct cluster_picture *picture = &report->pictures[pairs[i].picture];
        struct json_object *object;
        const int64_t now_ms = clock_now_ms();
        passages->until_ms = now_ms + (until_ms - now_ms) / PAIR_SHARE;
        int r = report_passages_read(passages, picture->members[0].path,
                                     picture->members[pairs[i].member].path, &object);
        progress_phase(&report->progress, "passages", n_shown, report->most.passages);
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            continue; /* it has changed, has no words, or is not to be read now */
        n_shown++;
        work_add_count(object, "cluster", picture->id);
        work_add_count(object, "member", pairs[i].member);
        json_object_array_add(report->passages, object);
    }
    report->n_without_passages = n - n_shown;
    return 0;
}

int report_read_passages(struct report *report, const struct location *at,
                         const struct configuration *configuration, char **ret_error)
{
    report->passages = json_object_new_array();
    if (!report->most.passages)
        return 0;
    _cleanup_close_ int tree_fd = trust_open_anywhere(at->source, NULL);
    if (tree_fd < 0)
        return refuse(ret_error, tree_fd, "%s: %s; leave passages out with --passages=0",
                      at->source, error_text(tree_fd));
    struct report_passages passages = {tree_fd, configuration, 0};
    int r = read_pairs(report, &passages);
    progress_done(&report->progress);
    return r;
}

/* -- telling -- */

static void add_rounded(struct json_object *object, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof(text), "%.4f", value);
    json_object_object_add(object, name, json_object_new_double_s(value, text));
}

/* "members" with their places, "pairs", "order". */
static void add_picture(struct json_object *object, const struct cluster_picture *picture)
{
    struct json_object *members = json_object_new_array(), *order = json_object_new_array();
    for (size_t i = 0; i < picture->n; i++) {
        const struct picture_member *from = &picture->members[i];
        struct json_object *member = json_object_new_object();
        json_path_add(member, "path", from->path);
        work_add_count(member, "size", from->size_bytes);
        json_object_object_add(member, "mtime", json_object_new_int64(from->mtime));
        work_add_ratio(member, "resemblance", from->resemblance);
        work_add_ratio(member, "error", from->error);
        json_object_object_add(member, "type", json_object_new_string(from->type));
        add_rounded(member, "x", picture->places[i].x);
        add_rounded(member, "y", picture->places[i].y);
        json_object_array_add(members, member);
        json_object_array_add(order, json_object_new_uint64(picture->order[i]));
    }
    json_object_object_add(object, "members", members);
    json_object_object_add(object, "order", order);
    json_object_object_add(object, "pairs",
                           json_object_get(json_object_object_get(picture->row, "pairs")));
}

static struct json_object *make_cluster(const struct top_cluster *cluster)
{
    struct json_object *object = json_object_new_object();
    const uint64_t n_copies = cluster->cost.documents - 1;
    work_add_count(object, "cluster", cluster->id);
    json_path_add(object, "representative", cluster->representative);
    json_object_object_add(object, "cost", cost_json(&cluster->cost));
    work_add_ratio(object, "resemblance_min", cluster->resemblance_min);
    work_add_ratio(object, "resemblance_mean",
                   n_copies ? cluster->resemblance_sum / (double)n_copies : 1);
    json_object_object_add(object, "first", json_object_new_int64(cluster->first));
    json_object_object_add(object, "last", json_object_new_int64(cluster->last));
    return object;
}

static struct json_object *make_clusters(const struct report *report)
{
    struct json_object *clusters = json_object_new_object(), *rows = json_object_new_array();
    for (size_t i = 0; i < report->top.n; i++) {
        struct json_object *row = make_cluster(&report->top.clusters[i]);
        if (report->pictures[i].n)
            add_picture(row, &report->pictures[i]);
        json_object_array_add(rows, row);
    }
    work_add_count(clusters, "all", report->top.n_all);
    work_add_count(clusters, "left_out", report->top.n_all - report->top.n);
    work_add_count(clusters, "pictures_left_out", report->n_left_out);
    json_object_object_add(clusters, "rows", rows);
    return clusters;
}

static void add_time(struct json_object *about)
{
    const time_t now = (time_t)(clock_real_ns() / 1000000000);
    char text[64];
    struct tm local;
    if (localtime_r(&now, &local) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M %z", &local))
        json_object_object_add(about, "time", json_object_new_string(text));
}

struct json_object *report_json(const struct report *report)
{
    enum { DIRECTORIES_MOST = 500 };
    struct json_object *object = json_object_new_object(), *about = NULL,
                       *passages = json_object_new_object();
    struct json_object *directories = cost_table_directories(&report->costs, DIRECTORIES_MOST),
                       *types = cost_table_types(&report->costs);
    if (!directories || !types || json_object_deep_copy(report->about, &about, NULL) < 0) {
        json_object_put(directories);
        json_object_put(types);
        json_object_put(passages);
        json_object_put(object);
        return NULL;
    }
    add_time(about);
    json_object_object_add(about, "version", json_object_new_string(KINFS_VERSION));
    add_rounded(about, "near", COST_NEAR_LEAST);
    json_object_object_add(
        about, "changed",
        json_object_new_boolean(report->generation != command_count(report->about, "generation")));
    json_object_object_del(about, "generation");
    json_object_object_add(object, "about", about);
    json_object_object_add(object, "all", cost_json(&report->costs.all));
    json_object_object_add(object, "directories", directories);
    json_object_object_add(object, "types", types);
    json_object_object_add(object, "clusters", make_clusters(report));
    json_object_object_add(passages, "rows", json_object_get(report->passages));
    work_add_count(passages, "left_out", report->n_without_passages);
    json_object_object_add(object, "passages", passages);
    return object;
}
