/* A refusal to open a directory or a file that others could have made or changed, and the line that
 * says why. Private to trust.c and walk.c; trust.h has the rules. */
#ifndef KINFS_BASE_FILES_REFUSAL_H
#define KINFS_BASE_FILES_REFUSAL_H

#include <limits.h>
#include <sys/types.h>

/* Gives the line, in place of one that ret_why (may be NULL) has. Returns -EPERM. */
__attribute__((format(printf, 2, 3))) int refusal(char **ret_why, const char *format, ...);

struct refusal_path {
    char text[PATH_MAX + NAME_MAX + 2];
};

/* The path of a descriptor, or of an entry of it. */
struct refusal_path refusal_path(int fd, const char *name);

struct refusal_user {
    char text[32];
};

struct refusal_user refusal_user(uid_t uid);

#endif
