/* A file without a name, for what does not fit into memory: it goes with the process, however that
 * ends. Any threads may append and read at once. */
#ifndef KINFS_ENGINE_CLUSTER_SCRATCH_FILE_H
#define KINFS_ENGINE_CLUSTER_SCRATCH_FILE_H

#include <stddef.h>
#include <stdint.h>

/* What several files take together. By atomic operations, as all counts here. */
struct scratch_use {
    uint64_t now_bytes, most_bytes;
};

struct scratch_file {
    int fd;
    uint64_t size_bytes;                /* reserved */
    uint64_t written_bytes, read_bytes; /* so far */
    uint64_t given_back_bytes;          /* of what was written */
    struct scratch_use *use;            /* NULL: nobody's; borrowed */
};

/* Open one in a directory. Returns 0 or what open(2) says of the directory: -ENOENT, -ENOTDIR,
 * -EACCES, -EROFS, -ENOSPC. */
int scratch_file_open(const char *directory, struct scratch_file *ret_file);
void scratch_file_done(struct scratch_file *file); /* of one that is all zeroes, too */

/* Room at the end; nothing is written. Returns where it begins. */
uint64_t scratch_file_reserve(struct scratch_file *file, size_t size_bytes);

/* Write and read whole pieces of what was reserved. Return 0, -ENOSPC, -EFBIG, -EDQUOT, -EIO (also
 * of a file that is shorter than it was). Block. */
int scratch_file_write(struct scratch_file *file, uint64_t offset, const void *data,
                       size_t size_bytes);
int scratch_file_read(struct scratch_file *file, uint64_t offset, void *data, size_t size_bytes);

/* Nobody reads what was written any more: the file system has its room back. Nobody writes or reads
 * meanwhile; what is written later begins anew. */
void scratch_file_give_back(struct scratch_file *file);

/* The same of a part, whatever is done with others meanwhile; what is behind it stays where it is.
 * A file system that cannot do it keeps the room until the end. */
void scratch_file_give_back_part(struct scratch_file *file, uint64_t offset, uint64_t size_bytes);

/* Have it at hand when it is read soon: does not wait for it. */
void scratch_file_ask_for(const struct scratch_file *file, uint64_t offset, size_t size_bytes);

#endif
