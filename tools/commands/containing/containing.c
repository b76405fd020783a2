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
    bool is_foreign; /* a document that the index takes for none of its tree; else it leaves it out
                      */
    int fd;          /* of that; negative: none */
    struct stat self;
    struct location location; /* of the file, where that is one of a tree */
    const char *store;        /* that is asked about files of its tree, as long as it is open */
    struct location tree;     /* that was named, once it is known */
    bool knows_tree;
    char *mountpoint;
    uint64_t n_rows;
};

static void asking_done(struct asking *asking)
{
    location_done(&asking->location);
    location_done(&asking->tree);
    free(asking->mountpoint);
    free(asking->of.incomplete);
    if (asking->fd >= 0)
        close(asking->fd);
    if (asking->of.tree_fd >= 0)
        close(asking->of.tree_fd);
}

int containing_stat(const struct contained *of, const char *path, struct stat *ret_st)
{
    const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
    if (of->tree_fd < 0)
        return -ENOENT;
    _cleanup_close_ int fd = mount_point_avoid_cached(of->tree_fd, path, flags);
    if (fd == -EAGAIN) { /* somebody may keep the directory locked */
        _cleanup_free_ char *whole = message("%s/%s", of->base, path);
        patience_look(whole);
        fd = mount_point_avoid(of->tree_fd, path, flags);
    }
    return fd < 0 ? fd : fstat(fd, ret_st) < 0 ? -errno : 0;
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

/* A row is of the file itself, by whatever name. */
static bool is_itself(const struct asking *asking, struct json_object *row)
{
    _cleanup_free_ char *path = NULL;
    struct stat st;
    return asking->is_foreign && json_path_get(row, "path", &path) == 0 &&
           containing_stat(&asking->of, path, &st) == 0 && st.st_dev == asking->self.st_dev &&
           st.st_ino == asking->self.st_ino;
}

static int take_row(void *user, struct json_object *row)
{
    struct asking *asking = user;
    const struct containing *containing = asking->containing;
    _cleanup_json_ struct json_object *taken = row;
    if (!taken)
        return -ENOMEM;
    if (command_take_incomplete(taken, &asking->of.incomplete))
        return 0;
    if ((containing->limit && asking->n_rows == containing->limit) || is_itself(asking, taken))
        return 0;
    asking->n_rows++;
    return containing->row(containing->user, &asking->of, taken);
}

static void begin(struct asking *asking, const char *base, bool is_foreign)
{
    asking->of.file = asking->files[asking->at];
    asking->of.base = base;
    asking->is_foreign = is_foreign;
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

static bool is_standard_input(const struct asking *asking)
{
    return strcmp(asking->files[asking->at], "-") == 0;
}

/* -- which tree a file is asked about in -- */

static void take_location(struct location *to, struct location *from)
{
    location_done(to);
    *to = *from;
    *from = (struct location){0};
}

/* Find the tree that was named, or of the working directory. */
static int find_tree(struct asking *asking, char **ret_error)
{
    struct location tree;
    int r = asking->knows_tree
                ? 0
                : locate(asking->containing->tree, asking->containing->store, &tree, ret_error);
    if (r == 0 && !asking->knows_tree) {
        asking->tree = tree;
        asking->knows_tree = true;
    }
    return r;
}

/* The file is one of the tree that was named: then the index knows which it is. */
static bool is_of_tree(struct asking *asking)
{
    _cleanup_(location_done) struct location own = {0};
    _cleanup_free_ char *error = NULL, *other = NULL;
    if (is_standard_input(asking) || find_tree(asking, &error) < 0 ||
        locate(asking->files[asking->at], asking->tree.store, &own, &other) < 0 || !own.is_file)
        return false;
    take_location(&asking->location, &own);
    return true;
}

static int find_file(struct asking *asking, char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    const char *file = asking->files[asking->at];
    int r = locate(file, asking->containing->store, &location, ret_error);
    if (r == 0 && !location.is_file)
        r = refuse(ret_error, -EINVAL, "%s: no document; name a regular file", file);
    if (r == 0)
        take_location(&asking->location, &location);
    return r;
}

/* -- what is asked -- */

static void put_path(struct json_object *request, const char *name, const char *path)
{
    _cleanup_free_ char *bytes = message("%s_bytes", name);
    json_object_object_del(request, bytes);
    json_path_add(request, name, path);
}

static void put_file(struct asking *asking, const struct location *location,
                     struct json_object *request)
{
    put_path(request, "path", location->path);
    put_path(request, "path" WORK_AS, asking->files[asking->at]);
    begin(asking, location->base, false);
}

/* In the place of the one before. */
static int open_document(struct asking *asking, char **ret_error)
{
    const char *file = asking->files[asking->at], *shown = shown_file(file);
    _cleanup_close_ int fd = -1;
    if (is_standard_input(asking)) {
        fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return refuse(ret_error, -errno, "%s: %s", shown, strerror(errno));
    } else {
        patience_look(file);
        fd = regular_file_open(file);
        if (fd < 0)
            return refuse(ret_error, fd, "%s: %s", shown,
                          fd == -EINVAL ? "not a regular file; a pipe is asked about as -"
                                        : error_text(fd));
    }
    if (fstat(fd, &asking->self) < 0)
        return refuse(ret_error, -errno, "%s: %s", shown, strerror(errno));
    if (asking->fd >= 0)
        close(asking->fd);
    asking->fd = TAKE_FD(fd);
    return 0;
}

static int put_document(struct asking *asking, struct json_object *request, char **ret_error)
{
    const char *shown = shown_file(asking->files[asking->at]);
    int r = question_make_seekable(&asking->fd);
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", shown, strerror(-r));
    put_path(request, "document", shown);
    begin(asking, asking->tree.base, true);
    return 0;
}

/* The next file, where the same store is asked about it in the same way, in the place of the one
 * that was answered. Where it cannot be, that is said when it is asked about anew. */
static bool ask_next(void *user, struct json_object *request)
{
    struct asking *asking = user;
    const struct containing *containing = asking->containing;
    _cleanup_free_ char *error = NULL;
    end(asking);
    if (asking->at + 1 == asking->n)
        return false;
    asking->at++;
    bool goes_on;
    if (asking->is_foreign) {
        goes_on = containing->tree && !is_of_tree(asking) && open_document(asking, &error) == 0 &&
                  put_document(asking, request, &error) == 0;
    } else {
        goes_on = !is_standard_input(asking) &&
                  (containing->tree ? is_of_tree(asking) : find_file(asking, &error) == 0) &&
                  strcmp(asking->location.store, asking->store) == 0;
        if (goes_on)
            put_file(asking, &asking->location, request);
    }
    if (!goes_on)
        asking->at--;
    return goes_on;
}

/* -- asking -- */

/* The location that is asked stays as it is while other files follow. */
static int ask_in_tree(struct asking *asking, struct json_object *request, char **ret_error)
{
    _cleanup_(location_done) struct location first = {0};
    take_location(&first, &asking->location);
    const struct ask question = {.location = &first, .command = "similar", .next = ask_next};
    asking->store = first.store;
    put_file(asking, &first, request);
    return ask(&question, request, take_row, asking, ret_error);
}

static int ask_mount(struct asking *asking, char **ret_error)
{
    const struct question question = {.mountpoint = asking->mountpoint,
                                      .document = asking->fd,
                                      .shown = shown_file(asking->files[asking->at]),
                                      .threshold = asking->containing->least,
                                      .limit = limit_of(asking),
                                      .relation = INDEX_WHOLES};
    begin(asking, asking->mountpoint, true);
    int r = question_ask(&question, take_row, asking, ret_error);
    if (r == 0)
        end(asking);
    return r;
}

/* A mount is asked through itself, as anybody may; else the store is opened here. */
static int ask_foreign(struct asking *asking, struct json_object *request, char **ret_error)
{
    const struct containing *containing = asking->containing;
    int r = open_document(asking, ret_error);
    if (r < 0)
        return r;
    if (!asking->mountpoint && !containing->store)
        asking->mountpoint = question_mountpoint(containing->tree);
    if (!asking->mountpoint) {
        r = find_tree(asking, ret_error);
        if (r < 0)
            return r;
        asking->mountpoint = question_mountpoint_of_store(asking->tree.store);
    }
    if (asking->mountpoint)
        return ask_mount(asking, ret_error);
    const struct ask question = {
        .location = &asking->tree, .command = "similar", .document = &asking->fd, .next = ask_next};
    r = put_document(asking, request, ret_error);
    return r < 0 ? r : ask(&question, request, take_row, asking, ret_error);
}

/* In another user's mount the daemon is asked through that, as anybody may. */
static int ask_file(struct asking *asking, char **ret_error)
{
    const struct containing *containing = asking->containing;
    _cleanup_json_ struct json_object *request = json_object_new_object();
    json_object_object_add(request, "threshold", json_object_new_double(containing->least));
    work_add_count(request, "limit", limit_of(asking));
    json_object_object_add(request, "containing", json_object_new_boolean(true));
    if (is_standard_input(asking) || (containing->tree && !is_of_tree(asking)))
        return ask_foreign(asking, request, ret_error);
    int r = containing->tree ? 0 : find_file(asking, ret_error);
    if (r == 0)
        r = ask_in_tree(asking, request, ret_error);
    if (r != -EACCES || containing->tree || containing->store)
        return r;
    free(asking->mountpoint);
    asking->mountpoint = question_mountpoint(asking->files[asking->at]);
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
        .containing = containing, .files = files, .n = n, .of.tree_fd = -1, .fd = -1};
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
