/* kinfs clusters: which clusters there are, or who is in one. */
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "engine/text/type.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"

enum { IDS_AT_ONCE = 256 };

static int emit_cluster(const struct cluster_info *info, row_fn row, void *user)
{
    struct json_object *object = json_object_new_object();
    work_add_count(object, "cluster", info->id & INDEX_CLUSTER_MAX);
    work_add_count(object, "size", info->size);
    work_add_ratio(object, "resemblance_min", info->resemblance_min);
    work_add_ratio(object, "resemblance_mean", info->resemblance_mean);
    json_path_add(object, "representative", info->representative.path);
    return row(user, object);
}

static int emit_member(uint64_t id, const struct kin *kin, row_fn row, void *user)
{
    struct json_object *object = json_object_new_object();
    work_add_count(object, "cluster", id & INDEX_CLUSTER_MAX);
    json_path_add(object, "path", kin->path);
    work_add_ratio(object, "resemblance", kin->resemblance);
    work_add_ratio(object, "error", kin->error);
    work_add_count(object, "size", kin->size_bytes);
    json_object_object_add(object, "mtime", json_object_new_int64(kin->mtime.tv_sec));
    json_object_object_add(object, "type",
                           json_object_new_string(text_type_name((enum text_type)kin->type)));
    return row(user, object);
}

static int emit_members(uint64_t id, const struct kin_list *members, row_fn row, void *user)
{
    int r = 0;
    for (size_t i = 0; i < members->n_kin && r >= 0; i++)
        r = emit_member(id, &members->kin[i], row, user);
    return r;
}

struct telling {
    uint64_t id; /* of the cluster */
    row_fn row;
    void *user;
};

static int tell_member(void *user, const struct kin *kin)
{
    const struct telling *telling = user;
    return emit_member(telling->id, kin, telling->row, telling->user);
}

/* The first ones, or all, of which there may be more than memory for their paths. */
static int tell_members(const struct work_context *context, uint64_t id,
                        const struct index_query *query, row_fn row, void *user)
{
    _cleanup_(cluster_info_done) struct cluster_info info = {0};
    _cleanup_(kin_list_done) struct kin_list members = {0};
    struct telling telling = {id, row, user};
    uint64_t size;
    if (!query->limit)
        return index_cluster_members(context->index, id, 0, query, &size, tell_member, &telling);
    int r = index_cluster(context->index, id, query, &info, &members);
    return r < 0 ? r : emit_members(id, &members, row, user);
}

static int one_cluster(const struct work_context *context, uint64_t id, uint64_t limit, row_fn row,
                       void *user, char **ret_error)
{
    const struct index_query query = {
        .limit = limit, .stop = context->stop, .stop_user = context->stop_user};
    int r = tell_members(context, id, &query, row, user);
    if (r < 0)
        return r == -ENOENT ? refuse(ret_error, -ENODATA, "no cluster %llu",
                                     (unsigned long long)(id & INDEX_CLUSTER_MAX))
                            : refuse(ret_error, r, "cluster %llu: %s",
                                     (unsigned long long)(id & INDEX_CLUSTER_MAX), error_text(r));
    return r;
}

static int tell_cluster(const struct work_context *context, uint64_t id,
                        const struct index_query *query, row_fn row, void *user)
{
    _cleanup_(cluster_info_done) struct cluster_info info = {0};
    int r = index_cluster(context->index, id, query, &info, NULL);
    return r < 0 ? r : emit_cluster(&info, row, user);
}

/* of_members  of each cluster its members, in the place of itself; of these `limit` */
static int all_clusters(const struct work_context *context, uint64_t base, bool of_members,
                        uint64_t limit, row_fn row, void *user, char **ret_error)
{
    const struct index_query query = {
        .limit = of_members ? limit : 0, .stop = context->stop, .stop_user = context->stop_user};
    uint64_t ids[IDS_AT_ONCE], after = base;
    for (;;) {
        int n = index_cluster_ids(context->index, after, IDS_AT_ONCE, ids);
        if (n < 0)
            return refuse(ret_error, n, "clusters: %s", strerror(-n));
        if (n == 0)
            return 0;
        for (int i = 0; i < n; i++) {
            int r = of_members ? tell_members(context, ids[i], &query, row, user)
                               : tell_cluster(context, ids[i], &query, row, user);
            if (r < 0 && r != -ENOENT) /* gone since it was listed */
                return refuse(ret_error, r, "cluster %llu: %s",
                              (unsigned long long)(ids[i] & INDEX_CLUSTER_MAX), error_text(r));
        }
        after = ids[n - 1];
    }
}

static int explain(const struct work_context *context, uint64_t id, row_fn row, void *user,
                   char **ret_error)
{
    _cleanup_(cluster_explanation_done) struct cluster_explanation found = {0};
    int r = index_explain(context->index, id, &found);
    if (r == -ENOENT)
        return refuse(ret_error, -ENODATA, "no cluster %llu",
                      (unsigned long long)(id & INDEX_CLUSTER_MAX));
    if (r < 0)
        return refuse(ret_error, r, "cluster %llu: %s",
                      (unsigned long long)(id & INDEX_CLUSTER_MAX), error_text(r));
    struct json_object *object = json_object_new_object();
    work_add_count(object, "cluster", found.id & INDEX_CLUSTER_MAX);
    work_add_count(object, "size", found.size);
    work_add_count(object, "classes", found.n_classes);
    work_add_count(object, "classes_compared", found.n_classes_compared);
    work_add_count(object, "pairs", found.n_pairs);
    work_add_ratio(object, "resemblance_min", found.resemblance_min);
    work_add_ratio(object, "resemblance_mean", found.resemblance_mean);
    work_add_ratio(object, "linked", found.linked);
    work_add_count(object, "parts", found.n_parts);
    work_add_count(object, "diameter", found.diameter);
    struct json_object *links = json_object_new_array();
    for (size_t i = 0; i < found.n_links; i++) {
        struct json_object *link = json_object_new_object();
        work_add_ratio(link, "resemblance", found.links[i].resemblance);
        work_add_count(link, "beyond", found.links[i].n_beyond);
        json_path_add(link, "a", found.links[i].path_a);
        json_path_add(link, "b", found.links[i].path_b);
        json_object_array_add(links, link);
    }
    json_object_object_add(object, "weakest_links", links);
    if (found.has_loss)
        work_add_loss(object, &found.loss);
    return row(user, object);
}

/* An id that was a cluster's is that of the cluster which has its documents now. */
static uint64_t followed(const struct work_context *context, uint64_t id)
{
    uint64_t cluster;
    bool leads = index_has_cluster(context->index, id) == 0 &&
                 index_cluster_alias(context->index, id, &cluster) == 0;
    return leads ? cluster : id;
}

/* The base of the clustering that is asked about. */
static int find_clustering(const struct work_context *context, struct json_object *request,
                           uint64_t *ret_base, char **ret_error)
{
    struct index_clustering_status clustering;
    struct json_object *member;
    if (!json_object_object_get_ex(request, "clustering", &member))
        return 0;
    const char *name = json_object_get_string(member);
    if (index_find_clustering(context->index, name ? name : "", &clustering) < 0)
        return refuse(ret_error, -EINVAL,
                      "no clustering %s; mount with -o clusters=%s:RULE to have it", name, name);
    *ret_base = clustering.base;
    return 0;
}

int work_clusters(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error)
{
    uint64_t id = work_count(request, "id", 0), limit = work_count(request, "limit", 0);
    uint64_t explained = work_count(request, "explain", 0);
    struct json_object *member;
    uint64_t base = 0;
    work_catch_up(context);
    int found = find_clustering(context, request, &base, ret_error);
    if (found < 0)
        return found;
    if (id > INDEX_CLUSTER_MAX || explained > INDEX_CLUSTER_MAX)
        return refuse(ret_error, -ENODATA, "no cluster %llu",
                      (unsigned long long)(explained ? explained : id));
    if (explained)
        return explain(context, followed(context, base | explained), row, user, ret_error);
    if (json_object_object_get_ex(request, "path", &member)) {
        _cleanup_free_ char *path = NULL;
        struct file_key key;
        struct document_info info;
        int r = work_document(context, request, "path", &path, &key, &info, ret_error);
        if (r < 0)
            return r;
        id = info.cluster_id;
        r = base ? index_cluster_of(context->index, &key, base, &id) : 0;
        if (r < 0 && r != -ENOENT)
            return refuse(ret_error, r, "%s: %s", work_shown(request, "path"), error_text(r));
        if (r < 0 || !id)
            return refuse(ret_error, -ENODATA, "%s: in no cluster", work_shown(request, "path"));
    }
    if (id)
        return one_cluster(context, followed(context, base | id), limit, row, user, ret_error);
    return all_clusters(context, base, work_flag(request, "members"), limit, row, user, ret_error);
}

struct clusters_options {
    struct command_options common;
    const char *base, *clustering;
    uint64_t id, explained, limit, n_rows;
    bool absolute, members;
    uint64_t last_cluster; /* of the row before, with members */
};

enum { OPTION_CLUSTERING = 0x100, OPTION_EXPLAIN };

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct clusters_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT: state->child_inputs[0] = &options->common; return 0;
    case 'i':
    case OPTION_EXPLAIN:
        *(key == 'i' ? &options->id : &options->explained) =
            command_parse_count(state, key == 'i' ? "--id" : "--explain", argument, 1, INT64_MAX);
        return 0;
    case 'n':
        options->limit = command_parse_count(state, "--limit", argument, 0, UINT32_MAX);
        return 0;
    case 'a': options->absolute = true; return 0;
    case 'm': options->members = true; return 0;
    case OPTION_CLUSTERING: options->clustering = argument; return 0;
    case ARGP_KEY_END:
        if (options->explained && options->common.null)
            argp_error(state, "--explain and -0 exclude each other");
        if (options->members && (options->explained || options->id))
            argp_error(state, "--members is of all clusters; leave --%s out",
                       options->id ? "id" : "explain");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option clusters_options[] = {
    {"id", 'i', "ID", 0, "the members of this cluster", 0},
    {"explain", OPTION_EXPLAIN, "ID", 0,
     "how this cluster hangs together: the resemblance of all pairs, the longest way, and the "
     "weakest links",
     0},
    {"members", 'm', NULL, 0,
     "the members of all clusters, one cluster behind the other, each with its size in bytes and "
     "the time of its last change; with -0 another NUL behind each cluster",
     0},
    {"clustering", OPTION_CLUSTERING, "NAME", 0,
     "of this clustering (-o clusters= of kinfs mount), not of the "
     "default one",
     0},
    {"limit", 'n', "N", 0, "most members of a cluster, 0 (the default) for all", 0},
    {"absolute", 'a', NULL, 0, "print absolute paths, not paths below the tree", 0},
    {0},
};
static const struct argp_child children[] = {{&command_paths_argp, 0, NULL, 0}, {0}};
static const struct argp parser = {
    clusters_options, parse, "[PATH]",
    "Print the clusters of the tree that PATH (or the working directory) is in: id, number of "
    "documents, least and mean resemblance to the representative, and its path, with tabs between. "
    "With a document as PATH, or --id, the members of that cluster instead, the representative "
    "first: "
    "resemblance to it, a tab, the path. Exit code 1 when there is none.",
    children};

static void print_explanation(struct json_object *row)
{
    uint64_t classes = command_count(row, "classes"),
             compared = command_count(row, "classes_compared"), parts = command_count(row, "parts");
    struct json_object *links;
    printf("documents       %llu", (unsigned long long)command_count(row, "size"));
    printf("; different ones %llu\n", (unsigned long long)classes);
    if (compared < classes)
        printf("compared        %llu of these; all below is of them\n",
               (unsigned long long)compared);
    printf("pairs           %llu, at the threshold or above ",
           (unsigned long long)command_count(row, "pairs"));
    command_print_ratio(row, "linked");
    printf(" of them\nresemblance     least ");
    command_print_ratio(row, "resemblance_min");
    printf(", mean ");
    command_print_ratio(row, "resemblance_mean");
    printf("\nlongest way     %s", counted(command_count(row, "diameter"), "link").text);
    if (parts > 1)
        printf(", in %llu parts", (unsigned long long)parts);
    putchar('\n');
    json_object_object_get_ex(row, "weakest_links", &links);
    for (size_t i = 0; i < json_object_array_length(links); i++) {
        struct json_object *link = json_object_array_get_idx(links, i);
        printf("%s", i ? "                " : "weakest links   ");
        command_print_ratio(link, "resemblance");
        putchar('\t');
        command_print_path(link, "a", false);
        putchar('\t');
        command_print_path(link, "b", false);
        printf("\t%llu beyond\n", (unsigned long long)command_count(link, "beyond"));
    }
    if (!json_object_object_get_ex(row, "shared_shingles", NULL))
        return;
    if (!command_count(row, "shared_shingles_left_out"))
        printf("left out        none of %s: none is of more than 1,000 documents\n",
               counted(command_count(row, "shared_shingles"), "shared shingle").text);
    else
        printf(
            "left out        %llu of %s, of more than 1,000 documents each, in all clusters; %llu "
            "of %s\n",
            (unsigned long long)command_count(row, "shared_shingles_left_out"),
            counted(command_count(row, "shared_shingles"), "shared shingle").text,
            (unsigned long long)command_count(row, "postings_left_out"),
            counted(command_count(row, "postings"), "posting").text);
}

/* The links of a cluster that is explained get absolute paths, too. */
static void make_absolute(struct json_object *row, const char *path, const char *base)
{
    struct json_object *links;
    command_make_absolute(row, path, base);
    if (!json_object_object_get_ex(row, "weakest_links", &links))
        return;
    for (size_t i = 0; i < json_object_array_length(links); i++) {
        struct json_object *link = json_object_array_get_idx(links, i);
        command_make_absolute(link, "a", base);
        command_make_absolute(link, "b", base);
    }
}

/* A time that no calendar has, which a file may well have, is shown as its seconds. */
static void print_size_and_time(struct json_object *row)
{
    const time_t mtime = json_object_get_int64(json_object_object_get(row, "mtime"));
    char text[32];
    struct tm local;
    if (!localtime_r(&mtime, &local) ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local) == 0)
        snprintf(text, sizeof(text), "@%lld", (long long)mtime);
    printf("\t%llu\t%s", (unsigned long long)command_count(row, "size"), text);
}

/* Another NUL stands behind each cluster. */
static void begin_cluster(struct clusters_options *options, struct json_object *row)
{
    const uint64_t cluster = command_count(row, "cluster");
    if (options->members && options->last_cluster && cluster != options->last_cluster)
        putchar('\0');
    options->last_cluster = cluster;
}

static int print_row(void *user, struct json_object *row)
{
    struct clusters_options *options = user;
    _cleanup_json_ struct json_object *taken = row;
    struct json_object *member;
    if (!taken)
        return -ENOMEM;
    if (options->explained && (!json_object_object_get_ex(taken, "weakest_links", NULL) ||
                               !command_is_list(taken, "weakest_links", json_type_object)))
        return -EPROTO;
    options->n_rows++;
    bool is_member = json_object_object_get_ex(taken, "path", &member);
    const char *path = is_member ? "path" : "representative";
    if (options->absolute)
        make_absolute(taken, path, options->base);
    if (options->common.json) {
        command_print_json(taken);
        return 0;
    }
    if (options->common.null) {
        begin_cluster(options, taken);
        command_print_path(taken, path, true);
        return 0;
    }
    if (options->explained) {
        print_explanation(taken);
        return 0;
    }
    if (is_member) {
        if (options->members)
            printf("%llu\t", (unsigned long long)command_count(taken, "cluster"));
        command_print_ratio(taken, "resemblance");
        if (options->members)
            print_size_and_time(taken);
    } else {
        printf("%llu\t%llu\t", (unsigned long long)command_count(taken, "cluster"),
               (unsigned long long)command_count(taken, "size"));
        command_print_ratio(taken, "resemblance_min");
        putchar('\t');
        command_print_ratio(taken, "resemblance_mean");
    }
    putchar('\t');
    command_print_path(taken, path, false);
    putchar('\n');
    return 0;
}

int cmd_clusters(int argc, char **argv)
{
    struct clusters_options options = {0};
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *error = NULL;
    command_parse(&parser, argc, argv, &options);
    int r = locate(options.common.path, options.common.store, &location, &error);
    if (r < 0)
        return command_end(r, error);
    options.base = location.base;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    if (options.explained)
        work_add_count(request, "explain", options.explained);
    else if (options.id)
        work_add_count(request, "id", options.id);
    else if (options.members)
        json_object_object_add(request, "members", json_object_new_boolean(true));
    else if (location.is_file)
        command_add_path(request, "path", options.common.path, location.path);
    work_add_count(request, "limit", options.limit);
    if (options.clustering)
        json_object_object_add(request, "clustering", json_object_new_string(options.clustering));
    const struct ask question = {.location = &location, .command = "clusters"};
    r = ask(&question, request, print_row, &options, &error);
    if (options.members && options.common.null && options.n_rows)
        putchar('\0');
    int code = command_end(r, error);
    return code == COMMAND_OK && options.n_rows == 0 ? COMMAND_NO_ANSWER : code;
}
