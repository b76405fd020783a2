#include "tools/questions/tree_paths.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc_path.h"
#include "base/room.h"
#include "tools/questions/mounts.h"
#include "tools/show/message.h"

void tree_paths_done(struct tree_paths *paths)
{
    free(paths->within);
    free(paths->working_directory);
    holder_done(&paths->holder);
    trusted_mount_done(&paths->trusted);
    *paths = (struct tree_paths){0};
}

static int real_path(const char *path, struct trusted_mount *trusted, char **ret_real)
{
    _cleanup_close_ int fd = trust_open_anywhere(path, trusted);
    return fd < 0 ? fd : proc_path_real(fd, ret_real);
}

/* A directory of the tree may be mounted elsewhere by itself (mount --bind): what was named is in
 * the tree behind what its base is there. */
static char *find_within(const struct location *at, const char *named,
                         struct trusted_mount *trusted)
{
    _cleanup_free_ char *real = NULL;
    const char *rest = "";
    if (!at->path || real_path(named ? named : ".", trusted, &real) < 0 ||
        !path_within(real, at->base, &rest))
        return message("%s", "");
    const size_t n = strlen(at->path), n_rest = strlen(rest);
    if (n < n_rest || strcmp(at->path + n - n_rest, rest) != 0)
        return message("%s", "");
    size_t n_within = n - n_rest;
    if (n_within && at->path[n_within - 1] == '/')
        n_within--;
    return message("%.*s", (int)n_within, at->path);
}

int tree_paths_init(const struct location *at, const char *named, struct tree_paths *ret_paths)
{
    struct tree_paths paths = {.at = at, .working_directory = getcwd(NULL, 0)};
    if (!paths.working_directory && errno == ENOMEM)
        return -ENOMEM;
    paths.within = find_within(at, named, &paths.trusted);
    (void)holder_read(at->store, &paths.holder);
    *ret_paths = paths;
    return 0;
}

static char *join(const char *within, const char *rest)
{
    return message("%s%s%s", within, *within && *rest ? "/" : "", rest);
}

/* The place in the tree of an absolute path without ".", ".." and double slashes. */
static char *in_tree(const struct tree_paths *paths, const char *path)
{
    const struct holder *holder = &paths->holder;
    const char *rest;
    if (path_within(path, paths->at->base, &rest))
        return join(paths->within, rest);
    if (holder->alive && holder->mountpoint && path_within(path, holder->mountpoint, &rest))
        return message("%s", rest);
    return path_within(path, paths->at->source, &rest) ? message("%s", rest) : NULL;
}

/* Take "." and double slashes out, in place. False: there is a "..". */
static bool make_normal(char *path)
{
    char *to = path;
    for (const char *from = path; *from;) {
        from += strspn(from, "/");
        const size_t n = strcspn(from, "/");
        if (n == 2 && strncmp(from, "..", 2) == 0)
            return false;
        if (n > 0 && !(n == 1 && *from == '.')) {
            *to++ = '/';
            memmove(to, from, n);
            to += n;
        }
        from += n;
    }
    *to = '\0';
    return true;
}

char *tree_paths_by_name(const struct tree_paths *paths, const char *path)
{
    const char *above = *path == '/' ? "" : paths->working_directory;
    if (!*path || !above)
        return NULL;
    _cleanup_free_ char *whole = message("%s/%s", above, path);
    return make_normal(whole) ? in_tree(paths, whole) : NULL;
}

/* -- looking -- */

static bool write_whole(int fd, const void *bytes, size_t n)
{
    for (const char *p = bytes; n > 0;) {
        const ssize_t written = write(fd, p, n);
        if (written < 0)
            return false;
        p += written;
        n -= (size_t)written;
    }
    return true;
}

/* Writes of each name where it leads, with a NUL behind; nothing where that is not known. */
static void look_as_child(int to, const char *const *names, size_t n)
{
    struct trusted_mount trusted = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (dup2(to, 0) != 0)
        _exit(1);
    close_range(1, ~0U, 0); /* nobody waits for it who waits for the end of a pipe */
    for (size_t i = 0; i < n; i++) {
        char *real = NULL;
        if (real_path(names[i], &trusted, &real) < 0 || !real)
            real = strdup("");
        if (!real || !write_whole(0, real, strlen(real) + 1))
            _exit(1);
        free(real);
    }
    _exit(0);
}

struct reader {
    int fd;
    char bytes[64 << 10];
    size_t at, n;
};

/* Returns 1, 0 at the end, -ETIMEDOUT, or another error. */
static int fill(struct reader *reader)
{
    enum { WAIT_MS = 20000 };
    struct pollfd readable = {.fd = reader->fd, .events = POLLIN};
    if (poll(&readable, 1, WAIT_MS) == 0)
        return -ETIMEDOUT;
    const ssize_t n = read(reader->fd, reader->bytes, sizeof(reader->bytes));
    reader->at = 0;
    reader->n = n > 0 ? (size_t)n : 0;
    return n < 0 ? -errno : n > 0;
}

/* The same of one text, up to its NUL. */
static int read_one(struct reader *reader, char **text, size_t *room)
{
    size_t n = 0;
    for (bool ends = false; !ends;) {
        int r = reader->at < reader->n ? 1 : fill(reader);
        if (r != 1)
            return r;
        const size_t n_here = reader->n - reader->at,
                     n_text = strnlen(reader->bytes + reader->at, n_here);
        ends = n_text < n_here;
        if (!MAKE_ROOM(*text, *room, n + n_text + 1))
            return -ENOMEM;
        memcpy(*text + n, reader->bytes + reader->at, n_text);
        n += n_text;
        (*text)[n] = '\0';
        reader->at += n_text + ends;
    }
    return 1;
}

static int read_all(const struct tree_paths *paths, struct reader *reader, const char *const *names,
                    size_t n, char **ret_paths)
{
    _cleanup_free_ char *text = NULL;
    size_t room = 0;
    int r = 1;
    for (size_t i = 0; r == 1 && i < n; i++) {
        r = read_one(reader, &text, &room);
        if (r == -ETIMEDOUT)
            complain("%s: the file system there has not answered for 20 s; this path and those "
                     "behind it are taken as they are named",
                     names[i]);
        else if (r == 1 && *text)
            ret_paths[i] = in_tree(paths, text);
    }
    return r == -ENOMEM ? r : 0;
}

int tree_paths_by_looking(struct tree_paths *paths, const char *const *names, size_t n,
                          char **ret_paths)
{
    int ends[2];
    for (size_t i = 0; i < n; i++)
        ret_paths[i] = NULL;
    if (n == 0)
        return 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    struct reader *reader = malloc(sizeof(*reader));
    const pid_t child = reader ? fork() : -1;
    if (child == 0)
        look_as_child(ends[1], names, n);
    int r = reader ? child < 0 ? -errno : 0 : -ENOMEM;
    close(ends[1]);
    if (r == 0) {
        reader->fd = ends[0];
        reader->at = reader->n = 0;
        r = read_all(paths, reader, names, n, ret_paths);
        waitpid(child, NULL, WNOHANG); /* one that is left behind is init's in the end */
    }
    close(ends[0]);
    free(reader);
    return r;
}
