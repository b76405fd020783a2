/* openat2(2), which the C library does not have. */
#ifndef KINFS_BASE_OPEN_AT_H
#define KINFS_BASE_OPEN_AT_H

#include <errno.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The file that a path leads to lies below the directory and on its file system, whatever others
 * rename or plant on the way. */
#define RESOLVE_IN_TREE (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV)

/* resolve: RESOLVE_*. Returns a descriptor or a negative errno. Any thread. */
static inline int open_at(int dirfd, const char *path, uint64_t flags, uint64_t resolve)
{
    const struct open_how how = {.flags = flags, .resolve = resolve};
    const long fd = syscall(SYS_openat2, dirfd, path, &how, sizeof(how));
    return fd < 0 ? -errno : (int)fd;
}

#endif
