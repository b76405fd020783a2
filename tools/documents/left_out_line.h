/* A line of the list of what unique/ leaves out (fs/views/view_skipped.c writes it). */
#ifndef KINFS_TOOLS_DOCUMENTS_LEFT_OUT_LINE_H
#define KINFS_TOOLS_DOCUMENTS_LEFT_OUT_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct left_out {
    char *path, *stand_in; /* in the line; of the tree, and lead to nothing above it */
    uint64_t size_bytes;
    bool is_equal;
    mode_t mode;
    uid_t uid;
    gid_t gid;
    struct timespec mtime;
    const char *sha256; /* in hexadecimal digits */
    uint64_t inode;     /* names of one file stand together */
};

/* line  without its end; changed, and used by what is returned
 *
 * Returns 0, -EINVAL, or -EPROTO: it is of an older kinfs, and says less. */
int left_out_parse(char *line, struct left_out *ret_left_out);

#endif
