/* The kernel's table of the mounts that a process sees (proc_pid_mountinfo(5)), row by row. A row:
 *
 *   36 35 98:0 /root /point options [optional fields] - type source options
 *
 * Space, tab, newline and backslash stand in it as \ooo, so that the first " - " is the one meant.
 */
#ifndef KINFS_BASE_MOUNTS_MOUNT_TABLE_H
#define KINFS_BASE_MOUNTS_MOUNT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct mount_table {
    FILE *file;
    char *line;
    size_t line_bytes;
};

struct mount_row {
    uint64_t id;        /* stx_mnt_id of statx(2) */
    uint64_t parent_id; /* of the mount it is on */
    dev_t device;       /* of the file system, the same for all mounts of it */
    const char *root;   /* the directory of the file system that is seen; "/" but for bind mounts */
    const char *point;  /* the mount point */
    const char *flags;  /* of this mount: "rw,nosuid" */
    const char *type;   /* "fuse.kinfs" */
    const char *source; /* of kinfs: the backing tree */
    const char *options; /* of the file system, as they stand there */
};

/* The type is one of FUSE, whose server may be anybody's. */
bool mount_type_is_fuse(const char *type);

/* path  NULL: /proc/self/mountinfo
 * Returns 0, or an errno of open(2); end with mount_table_done(). */
int mount_table_open(struct mount_table *table, const char *path);

/* The next row; its strings are the table's until the next call. One thread at a time; some
 * microseconds. Returns 1, 0 behind the last, -EINVAL for a line of another form, -ENOMEM, or an
 * errno of read(2). */
int mount_table_next(struct mount_table *table, struct mount_row *ret_row);

/* Open a table, and go to the row of a mount. Returns 0, -ENOENT when it has none, or as both
 * above; end with mount_table_done() all the same. */
int mount_table_find(struct mount_table *table, const char *path, uint64_t id,
                     struct mount_row *ret_row);

void mount_table_done(struct mount_table *table); /* all zero allowed */

#endif
