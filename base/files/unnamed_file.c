#include "base/files/unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/proc_path.h"

/* The way for file systems that cannot make a file without a name: it loses it at once. */
static int make_named(int directory_fd)
{
    _cleanup_free_ char *path = NULL;
    if (asprintf(&path, "%s/.kinfs-scratch-XXXXXX", proc_path_of(directory_fd).text) < 0) {
        path = NULL;
        return -ENOMEM;
    }
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return -errno;
    unlink(path);
    return fd;
}

int unnamed_file_make(const char *directory)
{
    _cleanup_close_ int at = trust_open_anywhere(directory, NULL);
    if (at < 0)
        return at;
    int fd = openat(at, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    return errno == EOPNOTSUPP || errno == EISDIR ? make_named(at) : -errno;
}

int unnamed_file_make_temporary(void)
{
    const char *directory = getenv("TMPDIR");
    int fd = unnamed_file_make(directory ? directory : "/tmp");
    if (fd < 0)
        fd = memfd_create("kinfs", MFD_CLOEXEC);
    return fd < 0 ? -errno : fd;
}
