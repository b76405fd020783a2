/* The questions of kinfs group to the index: of each path its cluster; or which of those before it
 * is alike. */
#include <string.h>

#include "base/ratio.h"
#include "base/room.h"
#include "tools/commands/command.h"
#include "tools/commands/group_work.h"
#include "tools/show/json_path.h"

struct json_object *group_row(uint64_t number)
{
    struct json_object *row = json_object_new_object();
    work_add_count(row, "i", number);
    return row;
}

struct represented { /* a cluster of the request, and its representative */
    uint64_t id;
    struct file_key key; /* of no bytes: none was found */
};

struct representatives {
    struct represented *clusters;
    size_t n, room;
};

/* Returns 1, 0 where none is found, or the cluster is no more; or an error. */
static int find_representative(const struct work_context *context, uint64_t id,
                               struct representatives *known, struct file_key *ret_key)
{
    for (size_t i = known->n; i-- > 0;)
        if (known->clusters[i].id == id) {
            *ret_key = known->clusters[i].key;
            return ret_key->size_bytes > 0;
        }
    _cleanup_(cluster_info_done) struct cluster_info info = {0};
    const struct index_query query = {
        .limit = 1, .stop = context->stop, .stop_user = context->stop_user};
    int r = index_cluster(context->index, id, &query, &info, NULL);
    if (r < 0 && r != -ENOENT)
        return r;
    if (!MAKE_ROOM(known->clusters, known->room, known->n + 1))
        return -ENOMEM;
    *ret_key = r == 0 ? info.representative.key : (struct file_key){0};
    known->clusters[known->n++] = (struct represented){id, *ret_key};
    return r == 0;
}

/* A mount has rules of its own; without one the request says it. */
static bool is_reference(const struct work_context *context, struct json_object *asked,
                         const char *path)
{
    return context->unique ? index_unique_is_reference(context->unique, path)
                           : work_flag(asked, "reference");
}

/* The row of a path that is none of a clustered document: nothing, or that the path is not to be
 * found by names alone. */
static int say_place(const struct work_context *context, struct json_object *asked,
                     const char *path, struct representatives *known, row_fn row, void *user)
{
    const uint64_t number = work_count(asked, "i", 0);
    struct file_key key, representative;
    struct document_info info;
    struct comparison comparison;
    bool is_file;
    int r = index_find(context->index, path, &key, &is_file);
    if (r == -ENOENT) {
        struct json_object *answer = group_row(number);
        json_object_object_add(answer, "elsewhere", json_object_new_boolean(true));
        return row(user, answer);
    }
    if (r < 0 || !is_file)
        return r < 0 ? r : 0;
    r = index_document(context->index, &key, &(struct index_query){0}, &info);
    if (r < 0 || !info.cluster_id)
        return r == -ENOMEM ? r : 0;
    r = find_representative(context, info.cluster_id, known, &representative);
    const bool is_represented = r > 0;
    if (is_represented)
        r = index_compare(context->index, &representative, &key, &(struct index_query){0},
                          &comparison);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    const bool represents = is_represented && file_key_equal(&representative, &key);
    struct json_object *answer = group_row(number);
    work_add_count(answer, "cluster", info.cluster_id);
    if (is_represented)
        work_add_ratio(answer, "resemblance", comparison.resemblance);
    json_object_object_add(answer, "represents", json_object_new_boolean(represents));
    json_object_object_add(answer, "reference",
                           json_object_new_boolean(is_reference(context, asked, path)));
    return row(user, answer);
}

struct leader {
    uint64_t number, cluster;
    struct file_key key;
};
struct leaders {
    struct leader leaders[LEADERS_MOST]; /* of one cluster, the first the oldest */
    size_t n;
};

static void add_leader(struct leaders *leaders, const struct leader *leader)
{
    if (leaders->n == LEADERS_MOST)
        memmove(leaders->leaders, leaders->leaders + 1, --leaders->n * sizeof(leaders->leaders[0]));
    leaders->leaders[leaders->n++] = *leader;
}

static int say_leader(const struct work_context *context, struct json_object *asked,
                      const char *path, double least, struct leaders *leaders, row_fn row,
                      void *user)
{
    struct leader own = {.number = work_count(asked, "i", 0),
                         .cluster = work_count(asked, "cluster", 0)};
    bool is_file;
    if (index_find(context->index, path, &own.key, &is_file) < 0)
        return 0;
    if (leaders->n && leaders->leaders[0].cluster != own.cluster)
        leaders->n = 0;
    uint64_t leader = own.number;
    const bool stays = work_flag(asked, "leads") || is_reference(context, asked, path);
    for (size_t i = 0; i < leaders->n && !stays; i++) {
        struct comparison comparison;
        int r = index_compare(context->index, &leaders->leaders[i].key, &own.key,
                              &(struct index_query){0}, &comparison);
        if (r == -ENOENT)
            continue;
        if (r < 0)
            return r;
        if (ratio_shown(comparison.resemblance) >= least) {
            leader = leaders->leaders[i].number;
            break;
        }
    }
    if (leader == own.number)
        add_leader(leaders, &own);
    if (work_flag(asked, "leads"))
        return 0;
    struct json_object *answer = group_row(own.number);
    work_add_count(answer, "leader", leader);
    return row(user, answer);
}

int work_group(const struct work_context *context, struct json_object *request, row_fn row,
               void *user, char **ret_error)
{
    struct json_object *paths;
    struct leaders leaders = {0};
    struct representatives known = {0};
    const double least = work_number(request, "min", 0);
    int r = 0;
    if (!json_object_object_get_ex(request, "paths", &paths) ||
        !command_is_list(request, "paths", json_type_object))
        return refuse(ret_error, -EINVAL, "the request has no paths");
    if (!work_flag(request, "goes_on"))
        work_catch_up(context);
    for (size_t i = 0; r == 0 && i < json_object_array_length(paths); i++) {
        struct json_object *asked = json_object_array_get_idx(paths, i);
        _cleanup_free_ char *path = NULL;
        r = json_path_get(asked, "path", &path);
        if (r < 0)
            break;
        r = least > 0 ? say_leader(context, asked, path, least, &leaders, row, user)
                      : say_place(context, asked, path, &known, row, user);
    }
    free(known.clusters);
    return r < 0 ? refuse(ret_error, r, "the paths of the search: %s", error_text(r)) : 0;
}
