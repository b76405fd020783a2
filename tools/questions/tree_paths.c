#include "tools/questions/tree_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/proc_path.h"
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

/* Of an absolute path without ".", ".." and double slashes. */
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

char *tree_paths_by_looking(struct tree_paths *paths, const char *path)
{
    _cleanup_free_ char *real = NULL;
    return real_path(path, &paths->trusted, &real) < 0 ? NULL : in_tree(paths, real);
}
