#include "tools/documents/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/proc_path.h"

int regular_file_open(const char *path)
{
    struct stat st;
    _cleanup_close_ int place = open(path, O_PATH | O_CLOEXEC);
    if (place < 0 || fstat(place, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    int fd = open(proc_path_of(place).text, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? -errno : fd;
}
