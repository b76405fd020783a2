#include "tools/commands/report/report_work.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/ratio.h"
#include "engine/sketch/documents/document_sketch.h"
#include "engine/text/type.h"
#include "tools/commands/command.h"
#include "tools/commands/report/cluster_picture.h"
#include "tools/show/json_path.h"

/* -- all documents -- */

struct telling {
    row_fn row;
    void *user;
};

static int tell_document(void *user, const char *path, const struct document_sketch *sketch)
{
    const struct telling *telling = user;
    struct json_object *row = json_object_new_object();
    json_path_add(row, "path", path);
    work_add_count(row, "size", sketch->size_bytes);
    json_object_object_add(row, "type", json_object_new_string(text_type_name(sketch->form.type)));
    return telling->row(telling->user, row);
}

static struct json_object *about(const struct work_context *context)
{
    struct json_object *row = json_object_new_object(), *object = json_object_new_object();
    struct index_status status;
    index_get_status(context->index, &status);
    json_path_add(object, "source", context->source);
    json_object_object_add(object, "threshold", json_object_new_double(INDEX_CLUSTER_THRESHOLD));
    json_object_object_add(object, "policy", json_object_new_string(status.policy));
    work_add_count(object, "documents", status.documents);
    work_add_count(object, "pending", status.pending_foreground + status.pending_scan);
    work_add_count(object, "skipped", status.skipped);
    work_add_count(object, "generation", index_generation(context->index));
    json_object_object_add(object, "scanning", json_object_new_boolean(status.scanning));
    json_object_object_add(row, "about", object);
    return row;
}

static int tell_documents(const struct work_context *context, row_fn row, void *user,
                          char **ret_error)
{
    struct telling telling = {row, user};
    work_catch_up(context);
    int r = row(user, about(context));
    if (r < 0)
        return r;
    r = index_each_sketch(context->index, tell_document, &telling);
    return r < 0 ? refuse(ret_error, r, "%s: %s", context->store, error_text(r)) : 0;
}

/* -- pictures -- */

static struct json_object *make_member(const struct kin *kin)
{
    struct json_object *object = json_object_new_object();
    json_path_add(object, "path", kin->path);
    work_add_count(object, "size", kin->size_bytes);
    json_object_object_add(object, "mtime", json_object_new_int64(kin->mtime.tv_sec));
    work_add_ratio(object, "resemblance", kin->resemblance);
    work_add_ratio(object, "error", kin->error);
    json_object_object_add(object, "type",
                           json_object_new_string(text_type_name((enum text_type)kin->type)));
    return object;
}

static struct json_object *make_pairs(const double *resemblances, size_t n)
{
    struct json_object *pairs = json_object_new_array();
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            const double ratio = resemblances[i * n + j];
            const long units = isnan(ratio) ? -1 : lrint(ratio_shown(ratio) * REPORT_RATIO_UNITS);
            json_object_array_add(pairs, json_object_new_int((int)units));
        }
    return pairs;
}

struct drawn {
    uint64_t sids[PICTURE_MEMBERS_MOST];
    size_t n;
    struct json_object *members;
};

static int add_drawn(void *user, const struct kin *kin)
{
    struct drawn *drawn = user;
    drawn->sids[drawn->n++] = kin->sid;
    return json_object_array_add(drawn->members, make_member(kin)) == 0 ? 0 : -ENOMEM;
}

/* So many of all, evenly taken of the order of their resemblance, the representative first. */
static int make_picture(const struct work_context *context, uint64_t id, size_t most,
                        struct json_object **ret_row)
{
    const struct index_query query = {.stop = context->stop, .stop_user = context->stop_user};
    _cleanup_json_ struct json_object *row = json_object_new_object();
    struct drawn drawn = {.members = json_object_new_array()};
    uint64_t size;
    json_object_object_add(row, "members", drawn.members);
    int r = index_cluster_members(context->index, id, most, &query, &size, add_drawn, &drawn);
    if (r < 0)
        return r;
    _cleanup_free_ double *resemblances = calloc(drawn.n * drawn.n + 1, sizeof(*resemblances));
    work_add_count(row, "cluster", id);
    work_add_count(row, "size", size);
    r = resemblances ? index_resemblances(context->index, drawn.sids, drawn.n, resemblances)
                     : -ENOMEM;
    if (r < 0)
        return r;
    json_object_object_add(row, "pairs", make_pairs(resemblances, drawn.n));
    *ret_row = TAKE_PTR(row);
    return 0;
}

/* An id that was a cluster's is that of the cluster which has its documents now. */
static int tell_picture(const struct work_context *context, uint64_t id, size_t most, row_fn row,
                        void *user)
{
    struct json_object *picture = NULL;
    uint64_t now;
    int r = make_picture(context, id, most, &picture);
    if (r == -ENOENT && index_cluster_alias(context->index, id, &now) == 0)
        r = make_picture(context, now, most, &picture);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    return row(user, picture);
}

static int tell_pictures(const struct work_context *context, struct json_object *request,
                         row_fn row, void *user, char **ret_error)
{
    const uint64_t most = work_count(request, "most", 0);
    struct json_object *ids;
    if (most < 1 || most > PICTURE_MEMBERS_MOST ||
        !json_object_object_get_ex(request, "ids", &ids) ||
        !command_is_list(request, "ids", json_type_int))
        return refuse(ret_error, -EINVAL, "the request names no clusters");
    for (size_t i = 0; i < json_object_array_length(ids); i++) {
        const uint64_t id = json_object_get_uint64(json_object_array_get_idx(ids, i));
        int r = id > 0 && id <= INDEX_CLUSTER_MAX ? tell_picture(context, id, most, row, user) : 0;
        if (r < 0)
            return refuse(ret_error, r, "cluster %llu: %s", (unsigned long long)id, error_text(r));
    }
    struct json_object *last = json_object_new_object();
    work_add_count(last, "generation", index_generation(context->index));
    return row(user, last);
}

int work_report(const struct work_context *context, struct json_object *request, row_fn row,
                void *user, char **ret_error)
{
    const char *what = json_object_get_string(json_object_object_get(request, "what"));
    if (what && strcmp(what, REPORT_DOCUMENTS) == 0)
        return tell_documents(context, row, user, ret_error);
    if (what && strcmp(what, REPORT_PICTURES) == 0)
        return tell_pictures(context, request, row, user, ret_error);
    if (!what || strcmp(what, REPORT_MEMBERS) != 0)
        return refuse(ret_error, -EINVAL, "the request asks for nothing that is known");
    json_object_object_add(request, "members", json_object_new_boolean(true));
    return work_clusters(context, request, row, user, ret_error);
}
