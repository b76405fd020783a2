#include "tools/commands/past/gone_path.h"

#include <errno.h>
#include <string.h>

#include "base/files/trust.h"
#include "tools/questions/patience.h"
#include "tools/show/message.h"

/* A path into another user's mount is there, so that locate() refuses it: nobody is asked. */
static bool is_there(const char *path)
{
    patience_look(path);
    _cleanup_close_ int fd = trust_open_anywhere(path, NULL);
    return fd != -ENOENT && fd != -ENOTDIR;
}

/* Adds the names of a path that is not there. */
static int add_names(char **path, char *names, const char *shown, char **ret_error)
{
    char *rest = names;
    for (char *name; (name = strsep(&rest, "/")) != NULL;) {
        if (!*name || strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0)
            return refuse(ret_error, -EINVAL,
                          "%s: leads up from what is not there; name the path without ..", shown);
        char *longer = message("%s%s%s", *path, **path ? "/" : "", name);
        free(*path);
        *path = longer;
    }
    return 0;
}

int gone_path_locate(const char *path, const char *store, struct location *ret_location,
                     char **ret_error)
{
    _cleanup_(location_done) struct location location = {0};
    if (!path)
        path = store ? "" : ".";
    _cleanup_free_ char *above = message("%s", path);
    size_t n = strlen(above);
    while (n > 0 && !is_there(above)) {
        while (n > 0 && above[n - 1] == '/')
            n--;
        while (n > 0 && above[n - 1] != '/')
            n--;
        above[n] = '\0';
    }
    int r = locate(n ? above : *path ? "." : NULL, store, &location, ret_error);
    if (r < 0)
        return r;
    if (!location.path)
        location.path = message("%s", "");
    _cleanup_free_ char *names = message("%s", path + n);
    r = add_names(&location.path, names, path, ret_error);
    if (r < 0)
        return r;
    *ret_location = location;
    location = (struct location){0};
    return 0;
}
