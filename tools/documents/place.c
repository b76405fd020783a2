#include "tools/documents/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/mount_user.h"
#include "base/trust.h"

/* The mount of what is open, which need not answer for that, nor let one in: nothing else is asked
 * for. */
static int find_mount(int fd, uint64_t *ret_id)
{
    struct statx st;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) < 0)
        return -errno;
    *ret_id = st.stx_mnt_id;
    return 0;
}

static bool is_anothers(uint64_t mount_id)
{
    uid_t uid;
    return mount_user_of_id(mount_id, &uid) < 0 || !mount_user_is_trusted(uid);
}

static int open_named(const char *path, uint32_t n_named, uint64_t *trusted)
{
    _cleanup_free_ char *named = n_named ? strndup(path, n_named) : strdup(*path ? "/" : "");
    return named ? trust_open_anywhere(named, trusted) : -ENOMEM;
}

int place_open(const char *path, uint32_t n_named, uint64_t *trusted)
{
    uint64_t mount = 0, next_mount = 0;
    _cleanup_close_ int fd = open_named(path, n_named, trusted);
    int r = fd < 0 ? fd : find_mount(fd, &mount);
    const char *at = path + n_named + strspn(path + n_named, "/");
    while (r == 0 && *at) {
        char name[NAME_MAX + 1];
        const size_t n = strcspn(at, "/");
        if (n >= sizeof(name))
            return -ENAMETOOLONG;
        memcpy(name, at, n);
        name[n] = '\0';
        at += n + strspn(at + n, "/");
        /* O_DIRECTORY has the kernel mount what it mounts unasked, as a whole path would. */
        int next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | (*at ? O_DIRECTORY : 0));
        if (next < 0)
            return -errno;
        close(fd);
        fd = next;
        r = find_mount(fd, &next_mount);
        if (r < 0 || next_mount == mount)
            continue;
        if (next_mount != *trusted && is_anothers(next_mount))
            return -EXDEV;
        *trusted = mount = next_mount;
    }
    return r < 0 ? r : TAKE_FD(fd);
}
