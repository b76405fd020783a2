#include "tools/documents/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/proc_path.h"

/* A server of FUSE may number anew what it has forgotten. */
static bool is_same(int fd, const struct stat *st, const struct document *found)
{
    struct statfs fs;
    return st->st_dev == found->dev &&
           (st->st_ino == found->ino || (fstatfs(fd, &fs) == 0 && fs.f_type == FUSE_SUPER_MAGIC));
}

/* The descriptor O_PATH becomes one for reading, when it is of a regular file. */
static int open_place(int place, const struct document *found)
{
    struct stat st;
    if (fstat(place, &st) < 0)
        return -errno;
    if (found && (S_ISLNK(st.st_mode) || (found->ino && !is_same(place, &st, found))))
        return -ESTALE;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    int fd = open(proc_path_of(place).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

int regular_file_open_place(int place_fd)
{
    return open_place(place_fd, NULL);
}

int regular_file_open(const char *path)
{
    _cleanup_close_ int place = trust_open_anywhere(path, NULL);
    return place < 0 ? place : regular_file_open_place(place);
}

int regular_file_open_found(const struct document_list *list, uint32_t i, struct place_way *way)
{
    const struct document *found = &list->documents[i];
    _cleanup_free_ char *path = document_list_path(list, i), *real = document_list_real(list, i);
    if (!path || (list->reals && !real))
        return -ENOMEM;
    _cleanup_close_ int place = place_open(way, real ? real : path, found->path.n_named);
    if (place < 0)
        return place == -ENOTDIR && path[found->path.n_named] ? -ESTALE : place;
    return open_place(place, found);
}
