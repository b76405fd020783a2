#include "tools/documents/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_path.h"

int regular_file_open(const char *path)
{
    return regular_file_open_found(path, NULL);
}

/* No link below what was named is followed. */
static int open_place(const char *path, const struct document_inode *found)
{
    char named[PATH_MAX];
    const char *below = found ? path + found->n_named : "";
    if (!found || !*below)
        return open(path, O_PATH | O_CLOEXEC);
    if (found->n_named >= sizeof(named)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(named, path, found->n_named);
    named[found->n_named] = '\0';
    _cleanup_close_ int top = open(named, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    return top < 0 ? -1
                   : (int)syscall(SYS_openat2, top, below + strspn(below, "/"), &how, sizeof(how));
}

/* A server of FUSE may number anew what it has forgotten. */
static bool is_same(int fd, const struct stat *st, const struct document_inode *found)
{
    struct statfs fs;
    return st->st_dev == found->dev &&
           (st->st_ino == found->ino || (fstatfs(fd, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC));
}

int regular_file_open_found(const char *path, const struct document_inode *found)
{
    struct stat st;
    found = found && found->ino ? found : NULL;
    _cleanup_close_ int place = open_place(path, found);
    if (place < 0 || fstat(place, &st) < 0)
        return found && (errno == ELOOP || errno == ENOTDIR) ? -ESTALE : -errno;
    if (found && !is_same(place, &st, found))
        return -ESTALE;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    int fd = open(proc_path_of(place).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}
