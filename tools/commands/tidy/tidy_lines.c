#include "tools/commands/tidy/tidy_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "tools/questions/patience.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"

static struct json_object *parse(const char *text, size_t n_bytes)
{
    struct json_object *object = strlen(text) == n_bytes ? json_tokener_parse(text) : NULL;
    if (object && json_object_is_type(object, json_type_object))
        return object;
    json_object_put(object);
    return NULL;
}

int tidy_lines_read(const char *file, tidy_line_fn line, void *user, unsigned long *ret_number,
                    char **ret_error)
{
    _cleanup_free_ char *text = NULL;
    size_t room = 0;
    ssize_t n;
    *ret_number = 0;
    patience_look(file);
    int r = trust_open_order(file, ret_error);
    if (r < 0)
        return *ret_error ? r
                          : refuse(ret_error, r, "%s: %s", file,
                                   r == -EINVAL ? "no regular file" : strerror(-r));
    _cleanup_fclose_ FILE *lines = fdopen(r, "r");
    if (!lines)
        return -ENOMEM;
    for (unsigned long number = 1; (n = getline(&text, &room, lines)) > 0; number++) {
        const bool ends = text[n - 1] == '\n';
        text[ends ? n - 1 : n] = '\0';
        _cleanup_json_ struct json_object *object = parse(text, (size_t)n - ends);
        if (!object && !ends)
            break;
        r = object ? line(user, object) : -EINVAL;
        if (r < 0) {
            *ret_number = number;
            return r;
        }
    }
    return ferror(lines) ? refuse(ret_error, -EIO, "%s: %s", file, strerror(EIO)) : 0;
}

static int make(const char *file)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    _cleanup_free_ char *above = slash ? strndup(file, (size_t)(slash - file) + 1) : strdup(".");
    if (!above)
        return -ENOMEM;
    patience_look(above);
    _cleanup_close_ int directory_fd = trust_open_anybodys(above, NULL);
    if (directory_fd < 0)
        return directory_fd;
    _cleanup_close_ int fd = openat(
        directory_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    _cleanup_close_ int listed = openat(directory_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (listed >= 0)
        fsync(listed); /* its lines are synced one by one, and some file systems need no more */
    return TAKE_FD(fd);
}

int tidy_lines_make(const char *file, char **ret_error)
{
    int fd = make(file);
    if (fd == -EEXIST)
        return refuse(ret_error, fd,
                      "%s is there, of an earlier run; kinfs tidy --undo takes it, and "
                      "--undo-file=FILE names another one",
                      file);
    return fd < 0 ? refuse(ret_error, fd, "%s: %s", file, strerror(-fd)) : fd;
}

int tidy_lines_append(int fd, struct json_object *line)
{
    _cleanup_free_ char *text =
        message("%s\n", json_object_to_json_string_ext(line, JSON_C_TO_STRING_PLAIN |
                                                                 JSON_C_TO_STRING_NOSLASHESCAPE));
    const size_t n = strlen(text);
    for (size_t done = 0; done < n;) {
        ssize_t written = write(fd, text + done, n - done);
        if (written < 0 && errno != EINTR)
            return -errno;
        done += written > 0 ? (size_t)written : 0;
    }
    return fsync(fd) < 0 ? -errno : 0;
}
