/* The options of mount(8) about access times. The kernel reads the tree's own files by the tree's
 * own mount, so that its rule holds through kinfs whatever is asked for: another is refused. */
#ifndef KINFS_TOOLS_OPTIONS_ACCESS_TIMES_H
#define KINFS_TOOLS_OPTIONS_ACCESS_TIMES_H

#include <stdbool.h>

/* All zero: what the tree's mount does. */
struct access_times {
    enum {
        ACCESS_TIMES_ANY,
        ACCESS_TIMES_NONE,
        ACCESS_TIMES_RELATIVE,
        ACCESS_TIMES_STRICT,
        ACCESS_TIMES_NOT_RELATIVE,
        ACCESS_TIMES_NOT_STRICT,
    } rule;
    bool not_of_directories, lazy;
};

/* Take an option in; of those that exclude each other the last holds. False: it is none of these.
 * No system call. */
bool access_times_option(struct access_times *times, const char *name);

/* Returns 0 when the mount that a directory is on does all that was asked for, else -EINVAL, or an
 * errno of fstatvfs(3), with a line in *ret_error.
 *
 * source_fd  the directory, O_PATH will do
 * source     what it is called in that line */
int access_times_check(const struct access_times *times, int source_fd, const char *source,
                       char **ret_error);

/* The options for the kernel, which shows them: those in extra (or NULL) and these; gives, NULL for
 * none. */
char *access_times_for_kernel(const struct access_times *times, const char *extra);

#endif
