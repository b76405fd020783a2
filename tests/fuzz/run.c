/* Run a fuzz target over every file of a directory, whole and cut short at each of its bytes. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/fuzz/fuzz.h"

enum { FILE_MAX_BYTES = 1 << 16 };

static int run_file(int dirfd, const char *name)
{
    _cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
    _cleanup_free_ uint8_t *bytes = malloc(FILE_MAX_BYTES);
    ssize_t size = fd >= 0 && bytes ? read(fd, bytes, FILE_MAX_BYTES) : -1;
    if (size < 0)
        return -1;
    printf("%s (%zd bytes)\n", name, size);
    fflush(stdout);
    for (ssize_t end = size; end >= 0; end -= 1 + size / 500) {
        /* Of its own allocation, so that a byte read past the end is noticed. */
        _cleanup_free_ uint8_t *input = malloc(end ? (size_t)end : 1);
        if (!input)
            return -1;
        memcpy(input, bytes, (size_t)end);
        LLVMFuzzerTestOneInput(input, (size_t)end);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    _cleanup_closedir_ DIR *dir = opendir(argv[1]);
    size_t n = 0;
    struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        if (run_file(dirfd(dir), entry->d_name) < 0) {
            perror(entry->d_name);
            return 1;
        }
        n++;
    }
    if (n == 0)
        fprintf(stderr, "%s: no corpus\n", argv[1]);
    return n == 0;
}
