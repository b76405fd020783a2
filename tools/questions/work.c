#include "tools/questions/work.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mounts/mount_point.h"
#include "base/ratio.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

static work_finder find_work;

void work_set_finder(work_finder finder)
{
    find_work = finder;
}

work_fn work_of(const char *command)
{
    return find_work(command);
}

const char *work_shown(struct json_object *request, const char *name)
{
    char as[32];
    struct json_object *member;
    snprintf(as, sizeof(as), "%s" WORK_AS, name);
    bool there = json_object_object_get_ex(request, as, &member) ||
                 json_object_object_get_ex(request, name, &member);
    const char *text = there ? json_object_get_string(member) : "";
    return text && *text ? text : ".";
}

void work_catch_up(const struct work_context *context)
{
    uint64_t ticket = 0;
    if (context->settle_mount)
        context->settle_mount(context->user, false, &ticket, WORK_SETTLE_MS);
    if (context->started)
        index_settle(context->index, INDEX_LANE_FOREGROUND, WORK_SETTLE_MS);
}

/* A mount inside the tree is asked nothing: its server need not answer. */
int work_find(const struct work_context *context, const char *path, struct file_key *ret_key,
              struct stat *ret_st)
{
    const int root_fd = backing_root_fd(context->backing);
    _cleanup_close_ int fd =
        mount_point_avoid(root_fd, *path ? path : ".", O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return fd;
    if (fstat(fd, ret_st) < 0)
        return -errno;
    return backing_key_at(context->backing, fd, "", ret_key);
}

int work_document(const struct work_context *context, struct json_object *request, const char *name,
                  char **ret_path, struct file_key *ret_key, struct document_info *ret_info,
                  char **ret_error)
{
    _cleanup_free_ char *path = NULL;
    work_catch_up(context);
    struct stat st;
    if (json_path_get(request, name, &path) < 0)
        return refuse(ret_error, -EINVAL, "the request has no %s", name);
    int r = work_find(context, path, ret_key, &st);
    if (r == -EXDEV)
        return refuse(ret_error, r, "%s: in a mount inside the tree, of which nothing is sketched",
                      work_shown(request, name));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", work_shown(request, name), strerror(-r));
    const struct index_query query = {.wait_ms = context->started ? WORK_SETTLE_MS : 0};
    r = index_document(context->index, ret_key, &query, ret_info);
    /* Without file handles a file that the index has not seen is not found by its key either. */
    if (r == -ENOENT && S_ISREG(st.st_mode)) {
        *ret_info = (struct document_info){.state = DOCUMENT_PENDING};
        r = 0;
    }
    if (r == -ENOENT)
        return refuse(ret_error, r, "%s: not a document of the tree; name a regular file in it",
                      work_shown(request, name));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", work_shown(request, name), error_text(r));
    *ret_path = TAKE_PTR(path);
    return 0;
}

int work_refuse_sketches(const struct work_context *context, char **ret_error)
{
    return refuse(ret_error, -EOPNOTSUPP,
                  "%s: mounted with -o nosketch, nothing is known of its documents; mount without "
                  "it, or ask about the tree below, %s",
                  context->mountpoint, context->source);
}

double work_number(struct json_object *request, const char *name, double absent)
{
    struct json_object *member;
    return json_object_object_get_ex(request, name, &member) ? json_object_get_double(member)
                                                             : absent;
}

uint64_t work_count(struct json_object *request, const char *name, uint64_t absent)
{
    struct json_object *member;
    return json_object_object_get_ex(request, name, &member) ? json_object_get_uint64(member)
                                                             : absent;
}

bool work_flag(struct json_object *request, const char *name)
{
    struct json_object *member;
    return json_object_object_get_ex(request, name, &member) && json_object_get_boolean(member);
}

void work_add_ratio(struct json_object *row, const char *name, double value)
{
    char text[32];
    if (isnan(value)) {
        json_object_object_add(row, name, NULL);
        return;
    }
    /* So many that rounding again, to the four that people are shown, gives what rounding once does
     * for any ratio of numbers below 100,000. */
    snprintf(text, sizeof(text), "%.9f", ratio_shown(value));
    json_object_object_add(row, name, json_object_new_double_s(ratio_shown(value), text));
}

void work_add_count(struct json_object *row, const char *name, uint64_t value)
{
    json_object_object_add(row, name, json_object_new_uint64(value));
}

void work_add_loss(struct json_object *row, const struct index_clustering_loss *loss)
{
    work_add_count(row, "shared_shingles", loss->lists);
    work_add_count(row, "shared_shingles_left_out", loss->lists_left_out);
    work_add_count(row, "postings", loss->postings);
    work_add_count(row, "postings_left_out", loss->postings_left_out);
}
