#include "tests/bench/documents.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

bool document_load(const char *path, uint8_t **ret_bytes, size_t *ret_size_bytes)
{
    _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return false;
    uint8_t *bytes = malloc((size_t)st.st_size);
    ssize_t n = bytes ? read(fd, bytes, (size_t)st.st_size) : -1;
    if (n != st.st_size) {
        free(bytes);
        return false;
    }
    *ret_bytes = bytes;
    *ret_size_bytes = (size_t)n;
    return true;
}

double thread_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
