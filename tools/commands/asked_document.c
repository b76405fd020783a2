#include "tools/commands/asked_document.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"

void asked_document_done(struct asked_document *asked)
{
    if (asked->fd >= 0)
        close(asked->fd);
    asked->fd = -1;
    location_done(&asked->location);
    free(asked->mountpoint);
}

static bool is_standard_input(const struct asked_document *asked)
{
    return strcmp(asked->common->path, "-") == 0;
}

const char *asked_document_shown(const struct asked_document *asked)
{
    return is_standard_input(asked) ? "standard input" : asked->common->path;
}

bool asked_document_is_apart(const struct asked_document *asked)
{
    return asked->tree || is_standard_input(asked);
}

static int open_document(const struct asked_document *asked, char **ret_error)
{
    const char *path = asked->common->path, *shown = asked_document_shown(asked);
    if (is_standard_input(asked)) {
        int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
        return fd < 0 ? refuse(ret_error, -errno, "%s: %s", shown, strerror(errno)) : fd;
    }
    patience_look(path);
    int fd = regular_file_open(path);
    return fd >= 0 ? fd
                   : refuse(ret_error, fd, "%s: %s", shown,
                            fd == -EINVAL ? "not a regular file; a pipe is asked about as -"
                                          : error_text(fd));
}

static int make_seekable(struct asked_document *asked, char **ret_error)
{
    int r = question_make_seekable(&asked->fd);
    return r < 0 ? refuse(ret_error, r, "%s: %s", asked_document_shown(asked), strerror(-r)) : 0;
}

int asked_document_open(struct asked_document *asked, char **ret_error)
{
    int r = asked->fd = open_document(asked, ret_error);
    return r < 0 ? r : make_seekable(asked, ret_error);
}

/* A mount is asked through itself, as anybody may; else the store is opened here. */
static int ask_apart(struct asked_document *asked, struct json_object *request, row_fn row,
                     void *user, char **ret_error)
{
    const char *shown = asked_document_shown(asked), *store = asked->common->store;
    if (asked->fd < 0 && (asked->fd = open_document(asked, ret_error)) < 0)
        return asked->fd;
    asked->mountpoint = store ? NULL : question_mountpoint(asked->tree);
    if (!asked->mountpoint) {
        int r = locate(asked->tree, store, &asked->location, ret_error);
        if (r < 0)
            return r;
        asked->mountpoint = question_mountpoint_of_store(asked->location.store);
    }
    asked->base = asked->mountpoint ? asked->mountpoint : asked->location.base;
    if (asked->mountpoint) {
        struct question question = asked->question;
        question.mountpoint = asked->mountpoint;
        question.document = asked->fd;
        question.shown = shown;
        return question_ask(&question, row, user, ret_error);
    }
    int r = make_seekable(asked, ret_error);
    if (r < 0)
        return r;
    const struct ask ask_store = {
        .location = &asked->location, .command = asked->command, .document = &asked->fd};
    json_path_add(request, "document", shown);
    return ask(&ask_store, request, row, user, ret_error);
}

/* The name in a directory there is, where nothing is. */
static int locate_missing(struct asked_document *asked, char **ret_error)
{
    const struct command_options *common = asked->common;
    struct location *location = &asked->location;
    const char *slash = strrchr(common->path, '/'), *name = slash ? slash + 1 : common->path;
    _cleanup_free_ char *above = slash == common->path ? message("/")
                                 : slash
                                     ? message("%.*s", (int)(slash - common->path), common->path)
                                     : message(".");
    int r = above ? locate(above, common->store, location, ret_error) : -ENOMEM;
    if (r < 0)
        return r;
    char *path = message("%s%s%s", location->path, *location->path ? "/" : "", name);
    free(location->path);
    location->path = path;
    return path ? 0 : -ENOMEM;
}

static int locate_in_tree(struct asked_document *asked, char **ret_error)
{
    const struct command_options *common = asked->common;
    struct stat st;
    patience_look(common->path);
    return asked->may_be_missing && lstat(common->path, &st) < 0 && errno == ENOENT
               ? locate_missing(asked, ret_error)
               : locate(common->path, common->store, &asked->location, ret_error);
}

static int ask_in_tree(struct asked_document *asked, struct json_object *request, row_fn row,
                       void *user, char **ret_error)
{
    const struct command_options *common = asked->common;
    int r = locate_in_tree(asked, ret_error);
    if (r < 0)
        return r;
    asked->base = asked->location.base;
    command_add_path(request, "path", common->path, asked->location.path);
    const struct ask question = {.location = &asked->location, .command = asked->command};
    return ask(&question, request, row, user, ret_error);
}

int asked_document_ask(struct asked_document *asked, struct json_object *request, row_fn row,
                       void *user, char **ret_error)
{
    return (asked_document_is_apart(asked) ? ask_apart : ask_in_tree)(asked, request, row, user,
                                                                      ret_error);
}
