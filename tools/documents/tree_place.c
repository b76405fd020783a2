#include "tools/documents/tree_place.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"

bool tree_place_is_path(const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return false;
    for (const char *at = path, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, '/');
        const size_t n = (size_t)(end - at);
        if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
            return false;
    }
    return true;
}

int tree_place_open_directory(int tree_fd, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *directory = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
    if (!directory)
        return -ENOMEM;
    *ret_name = slash ? slash + 1 : path;
    return mount_point_avoid(tree_fd, directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}
