/* The mounts of this process's namespace, from /proc/self/mountinfo. */
#ifndef KINFS_TOOLS_QUESTIONS_MOUNTS_H
#define KINFS_TOOLS_QUESTIONS_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct mount {
    uint64_t id;     /* what statx(2) calls stx_mnt_id */
    uint64_t device; /* of the file system, the same for all mounts of it */
    char *root;      /* which directory of the file system is seen, "/" but for bind mounts */
    char *point;     /* where */
    char *flags;     /* of this mount: "rw,nosuid" */
    char *type;      /* "fuse.kinfs" */
    char *source;    /* of kinfs: the backing tree */
    uid_t user;      /* who made it, as the kernel says; root's for all but FUSE mounts */
};

struct mounts {
    struct mount *mounts; /* in the order they were mounted in */
    size_t n_mounts;
};

/* file  NULL: /proc/self/mountinfo; or that of another process
 * Returns 0, -ENOMEM, -EINVAL for a file of another form, or an errno of open(2); ret_mounts gives,
 * end with mounts_done(). */
int mounts_read(const char *file, struct mounts *ret_mounts);
void mounts_done(struct mounts *mounts);

bool mount_is_kinfs(const struct mount *mount);

/* The mount is one of kinfs, and root's or the effective user's: only then is it asked anything,
 * told anything, or believed. Any user can make a FUSE mount that calls itself one, of any source.
 * NULL: false. */
bool mount_is_trusted(const struct mount *mount);

/* The mount that what is open (O_PATH will do) is in; borrowed. Returns 0, -ENOENT for a mount that
 * is not in the table, or an errno of statx(2). */
int mounts_of_open(const struct mounts *mounts, int fd, const struct mount **ret_mount);

/* An entry of an open directory ("": itself, O_PATH will do) is in this very mount. Its daemon is
 * not asked. */
bool mount_has(const struct mount *mount, int fd, const char *name);

/* Open the uppermost directory of this very mount, O_PATH; its daemon is not asked. By its mount
 * point alone: who owns a directory above can have that lead to another mount by now, or to another
 * directory of this one. Returns a descriptor the caller closes, -EBUSY when it is not to be found
 * there, or as trust_open_mount_point(). */
int mount_open_top(const struct mount *mount);

/* The mount that is exactly at an absolute path, the uppermost; NULL when nothing is. Touches no
 * file. */
const struct mount *mounts_at(const struct mounts *mounts, const char *point);

/* An absolute, normal path is `directory` or below it; if so *ret_rest (may be NULL) points into
 * path, past the slash. Both as realpath(3) gives them. */
bool path_within(const char *path, const char *directory, const char **ret_rest);

#endif
