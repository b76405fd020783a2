#include "tools/commands/containing/containing.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/files/trust.h"
#include "base/mounts/mount_point.h"
#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"
#include "tools/questions/question.h"
#include "tools/show/json_path.h"

struct asking {
    const struct containing *containing;
    char *const *files;
    size_t n, at;
    struct contained of;
    const struct stat *self; /* of the file, NULL where the index leaves it out */
    struct location location;
    char *mountpoint;
    uint64_t n_rows;
};

static void asking_done(struct asking *asking)
{
    location_done(&asking->location);
    free(asking->mountpoint);
    free(asking->of.incomplete);
    if (asking->of.tree_fd >= 0)
        close(asking->of.tree_fd);
}

int containing_stat(const struct contained *of, const char *path, struct stat *ret_st)
{
    if (of->tree_fd < 0)
        return -ENOENT;
    _cleanup_close_ int fd = mount_point_avoid(of->tree_fd, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? fd : fstat(fd, ret_st) < 0 ? -errno : 0;
}

bool containing_is_confident(struct json_object *row)
{
    const uint64_t n = command_count(row, "containment_samples");
    return work_flag(row, "exact") || n == 0 || n >= INDEX_CONFIDENT_SAMPLES;
}

static const char *shown_file(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

void containing_say_incomplete(const struct contained *of, bool json)
{
    if (!json) {
        complain("%s: %s", shown_file(of->file), of->incomplete);
        return;
    }
    _cleanup_json_ struct json_object *row = question_incomplete_row(of->incomplete);
    json_path_add(row, "file", of->file);
    json_object_object_add(row, "complete", json_object_new_boolean(false));
    command_print_json(row);
}

/* Whether a row is of the file itself, by whatever name. */
static bool is_itself(const struct asking *asking, struct json_object *row)
{
    _cleanup_free_ char *path = NULL;
    struct stat st;
    return asking->self && json_path_get(row, "path", &path) == 0 &&
           containing_stat(&asking->of, path, &st) == 0 && st.st_dev == asking->self->st_dev &&
           st.st_ino == asking->self->st_ino;
}

static int take_row(void *user, struct json_object *row)
{
    struct asking *asking = user;
    const struct containing *containing = asking->containing;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (json_object_object_get_ex(taken, "incomplete", NULL)) {
        free(asking->of.incomplete);
        asking->of.incomplete = message("%s", command_text(taken, "incomplete"));
        return 0;
    }
    if ((containing->limit && asking->n_rows == containing->limit) || is_itself(asking, taken))
        return 0;
    asking->n_rows++;
    return containing->row(containing->user, &asking->of, taken);
}

static void begin(struct asking *asking, const char *base, const struct stat *self)
{
    asking->of.file = asking->files[asking->at];
    asking->of.base = base;
    asking->self = self;
    asking->n_rows = 0;
    if (asking->of.tree_fd >= 0)
        close(asking->of.tree_fd);
    asking->of.tree_fd = trust_open_anywhere(base, NULL);
}

static void end(struct asking *asking)
{
    const struct containing *containing = asking->containing;
    containing->end(containing->user, &asking->of);
    free(TAKE_PTR(asking->of.incomplete));
}

/* As many as are wanted beside the file itself. */
static uint64_t limit_of(const struct asking *asking)
{
    return asking->containing->limit ? asking->containing->limit + 1 : 0;
}

/* -- files of a tree -- */

static int locate_file(const struct asking *asking, const char *file, struct location *ret_location,
                       char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    int r = locate(file, asking->containing->store, &location, ret_error);
    if (r == 0 && !location.is_file)
        r = refuse(ret_error, -EINVAL, "%s: no document; name a regular file", file);
    if (r < 0)
        return r;
    *ret_location = location;
    location = (struct location){0};
    return 0;
}

static void put_file(struct asking *asking, struct json_object *request)
{
    static const char *const members[] = {"path", "path_bytes", "path" WORK_AS,
                                          "path" WORK_AS "_bytes"};
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        json_object_object_del(request, members[i]);
    command_add_path(request, "path", asking->files[asking->at], asking->location.path);
    begin(asking, asking->location.base, NULL);
}

/* The next file, where it is one of the same tree, in the place of the one that was answered. */
static bool ask_next(void *user, struct json_object *request)
{
    struct asking *asking = user;
    _cleanup_(location_done) struct location next = {0};
    _cleanup_free_ char *error = NULL;
    end(asking);
    if (asking->containing->tree || asking->at + 1 == asking->n ||
        strcmp(asking->files[asking->at + 1], "-") == 0 ||
        locate_file(asking, asking->files[asking->at + 1], &next, &error) < 0 ||
        strcmp(next.store, asking->location.store) != 0)
        return false;
    asking->at++;
    location_done(&asking->location);
    asking->location = next;
    next = (struct location){0};
    put_file(asking, request);
    return true;
}

static int ask_in_tree(struct asking *asking, struct json_object *request, char **ret_error)
{
    const struct ask question = {
        .location = &asking->location, .command = "similar", .next = ask_next};
    put_file(asking, request);
    return ask(&question, request, take_row, asking, ret_error);
}

/* -- files of anywhere -- */

static int open_document(const char *file, const char *shown, char **ret_error)
{
    if (strcmp(file, "-") == 0) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        return fd < 0 ? refuse(ret_error, -errno, "%s: %s", shown, strerror(errno)) : fd;
    }
    patience_look(file);
    int fd = regular_file_open(file);
    return fd >= 0 ? fd
                   : refuse(ret_error, fd, "%s: %s", shown,
                            fd == -EINVAL ? "not a regular file; a pipe is asked about as -"
                                          : error_text(fd));
}

static int ask_mount(struct asking *asking, int fd, const char *shown, char **ret_error)
{
    const struct question question = {.mountpoint = asking->mountpoint,
                                      .document = fd,
                                      .shown = shown,
                                      .threshold = asking->containing->least,
                                      .limit = limit_of(asking),
                                      .containing = true};
    int r = question_ask(&question, take_row, asking, ret_error);
    if (r == 0)
        end(asking);
    return r;
}

static int ask_store(struct asking *asking, int *fd, const char *shown, struct json_object *request,
                     char **ret_error)
{
    const struct ask question = {
        .location = &asking->location, .command = "similar", .document = fd, .next = ask_next};
    int r = question_make_seekable(fd);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", shown, strerror(-r));
    json_path_add(request, "document", shown);
    return ask(&question, request, take_row, asking, ret_error);
}

/* A mount is asked through itself, as anybody may; else the store is opened here. */
static int ask_foreign(struct asking *asking, struct json_object *request, char **ret_error)
{
    const struct containing *containing = asking->containing;
    const char *file = asking->files[asking->at];
    const char *shown = shown_file(file);
    struct stat self;
    _cleanup_close_ int fd = open_document(file, shown, ret_error);
    if (fd < 0)
        return fd;
    if (!asking->mountpoint)
        asking->mountpoint = containing->store ? NULL : question_mountpoint(containing->tree);
    if (!asking->mountpoint) {
        location_done(&asking->location);
        asking->location = (struct location){0};
        int r = locate(containing->tree, containing->store, &asking->location, ret_error);
        if (r < 0)
            return r;
        asking->mountpoint = question_mountpoint_of_store(asking->location.store);
    }
    const char *base = asking->mountpoint ? asking->mountpoint : asking->location.base;
    begin(asking, base, fstat(fd, &self) == 0 ? &self : NULL);
    return asking->mountpoint ? ask_mount(asking, fd, shown, ret_error)
                              : ask_store(asking, &fd, shown, request, ret_error);
}

/* Whether the file is one of the tree that is asked: then it is no foreign one, and the index knows
 * which it is. */
static bool is_of_tree(struct asking *asking)
{
    const struct containing *containing = asking->containing;
    const char *file = asking->files[asking->at];
    _cleanup_(location_done) struct location tree = {0}, own = {0};
    _cleanup_free_ char *error = NULL, *other = NULL;
    if (strcmp(file, "-") == 0)
        return false;
    if (locate(containing->tree, containing->store, &tree, &error) < 0 ||
        locate(file, tree.store, &own, &other) < 0 || !own.is_file)
        return false;
    location_done(&asking->location);
    asking->location = own;
    own = (struct location){0};
    return true;
}

static int find_file(struct asking *asking, char **ret_error)
{
    struct location location;
    int r = locate_file(asking, asking->files[asking->at], &location, ret_error);
    if (r < 0)
        return r;
    location_done(&asking->location);
    asking->location = location;
    return 0;
}

/* In another user's mount the daemon is asked through that, as anybody may. */
static int ask_file(struct asking *asking, char **ret_error)
{
    const struct containing *containing = asking->containing;
    const char *file = asking->files[asking->at];
    _cleanup_json_ struct json_object *request = json_object_new_object();
    json_object_object_add(request, "threshold", json_object_new_double(containing->least));
    work_add_count(request, "limit", limit_of(asking));
    json_object_object_add(request, "containing", json_object_new_boolean(true));
    if (strcmp(file, "-") == 0 || (containing->tree && !is_of_tree(asking)))
        return ask_foreign(asking, request, ret_error);
    int r = containing->tree ? 0 : find_file(asking, ret_error);
    if (r == 0)
        r = ask_in_tree(asking, request, ret_error);
    if (r != -EACCES || containing->tree || containing->store)
        return r;
    free(asking->mountpoint);
    asking->mountpoint = question_mountpoint(file);
    if (!asking->mountpoint)
        return r;
    free(TAKE_PTR(*ret_error));
    r = ask_foreign(asking, request, ret_error);
    free(TAKE_PTR(asking->mountpoint));
    return r;
}

int containing_ask(const struct containing *containing, char *const *files, size_t n)
{
    _cleanup_(asking_done) struct asking asking = {
        .containing = containing, .files = files, .n = n, .of.tree_fd = -1};
    int failed = 0;
    for (; asking.at < n; asking.at++) {
        _cleanup_free_ char *error = NULL;
        int r = ask_file(&asking, &error);
        if (r >= 0)
            continue;
        (void)command_end(r, error);
        failed = failed ? failed : r;
        free(TAKE_PTR(asking.of.incomplete));
    }
    return failed;
}
