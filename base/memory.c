/* The bound of a control group is the least of its own and those above it, as a group cannot have
 * more than its parents.
 *
 * Example: the group /a/b with "max" in b and 1 GiB in a may have 1 GiB; a machine of 512 MiB has
 * less, and counts then. Left out: control groups of version 1, and limits of resources
 * (setrlimit).
 */
#include "base/memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

/* The bound in a file, UINT64_MAX where it says "max" or cannot be read. */
static uint64_t read_bound(const char *path)
{
    uint64_t bytes;
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    return file && fscanf(file, "%" SCNu64, &bytes) == 1 ? bytes : UINT64_MAX;
}

uint64_t memory_of_group(const char *root, const char *group)
{
    char path[2 * PATH_MAX];
    uint64_t least = UINT64_MAX;
    size_t n = strnlen(group, PATH_MAX);

    for (;;) {
        while (n > 0 && group[n - 1] == '/')
            n--;
        if ((size_t)snprintf(path, sizeof(path), "%s%.*s/memory.max", root, (int)n, group) <
            sizeof(path)) {
            uint64_t bound = read_bound(path);
            least = bound < least ? bound : least;
        }
        if (n == 0)
            return least;
        while (n > 0 && group[n - 1] != '/')
            n--;
    }
}

uint64_t memory_of_process(void)
{
    static const char unified[] = "0::"; /* the line of version 2 */
    char line[PATH_MAX + 16];
    long n_pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    uint64_t bytes = n_pages > 0 && page_bytes > 0 ? (uint64_t)n_pages * (uint64_t)page_bytes : 0;
    _cleanup_fclose_ FILE *file = fopen("/proc/self/cgroup", "re");

    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, unified, strlen(unified)) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        uint64_t bound = memory_of_group("/sys/fs/cgroup", line + strlen(unified));
        bytes = bound < bytes ? bound : bytes;
    }
    return bytes;
}

size_t memory_within(uint64_t bytes, size_t least, size_t most)
{
    return bytes < least ? least : bytes < most ? (size_t)bytes : most;
}
