/* Paths of descriptors: by which O_PATH descriptors are used where f*() calls refuse them, and
 * those that their files have now. */
#ifndef KINFS_BASE_PROC_PATH_H
#define KINFS_BASE_PROC_PATH_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct proc_path {
    char text[32];
};

/* The path in /proc by which the kernel finds the open file. No system call. */
static inline struct proc_path proc_path_of(int fd)
{
    struct proc_path path;
    snprintf(path.text, sizeof(path.text), "/proc/self/fd/%d", fd);
    return path;
}

/* The path that the open file has now. Returns the bytes before its NUL, or -ENAMETOOLONG or an
 * errno of readlink(2). */
static inline ssize_t proc_path_read(int fd, char ret_path[PATH_MAX])
{
    ssize_t n = readlink(proc_path_of(fd).text, ret_path, PATH_MAX);
    if (n < 0)
        return -errno;
    if (n == PATH_MAX)
        return -ENAMETOOLONG;
    ret_path[n] = '\0';
    return n;
}

/* The same as realpath(3) gives it, of what is in this process's tree and has a name. ret_path
 * gives. Returns 0, -ENOENT for any other, -ENOMEM, or as above. */
static inline int proc_path_real(int fd, char **ret_path)
{
    static const char removed[] = " (deleted)"; /* which may be in a name, too */
    const size_t n_removed = sizeof(removed) - 1;
    char path[PATH_MAX];
    struct stat st;
    ssize_t n = proc_path_read(fd, path);
    if (n < 0)
        return (int)n;
    if (path[0] != '/' || ((size_t)n > n_removed && strcmp(path + n - n_removed, removed) == 0 &&
                           (fstat(fd, &st) < 0 || st.st_nlink == 0)))
        return -ENOENT;
    *ret_path = strdup(path);
    return *ret_path ? 0 : -ENOMEM;
}

#endif
