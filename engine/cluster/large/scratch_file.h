/* A file without a name, for data that does not fit into memory: it goes with the process, however
 * that ends. Any threads may append and read at once. */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_SCRATCH_FILE_H
#define KINFS_ENGINE_CLUSTER_LARGE_SCRATCH_FILE_H

#include <stddef.h>
#include <stdint.h>

/* The room that several files take together. It is counted by atomic operations, as all counts here
 * are. */
struct scratch_use {
    uint64_t now_bytes, most_bytes;
};

struct scratch_file {
    int fd;
    uint64_t size_bytes;                /* reserved */
    uint64_t written_bytes, read_bytes; /* so far */
    uint64_t given_back_bytes;          /* of the written bytes */
    struct scratch_use *use;            /* borrowed; NULL: not counted */
};

/* Opens a file in a directory. Returns 0 or an errno of unnamed_file_make(): -EXDEV, -ENOENT,
 * -ENOTDIR, -EACCES, -EROFS, -ENOSPC. */
int scratch_file_open(const char *directory, struct scratch_file *ret_file);
void scratch_file_done(struct scratch_file *file); /* of one that is all zeroes, too */

/* Reserves room at the end, without writing. Returns the offset of its beginning. */
uint64_t scratch_file_reserve(struct scratch_file *file, size_t size_bytes);

/* These write and read whole pieces of reserved room. Return 0, -ENOSPC (before the file system is
 * full: a twentieth of it, or 256 MiB, and 16 MiB more stay free), -EFBIG, -EDQUOT, -EIO (also when
 * the file is shorter than it was). Block. */
int scratch_file_write(struct scratch_file *file, uint64_t offset, const void *data,
                       size_t size_bytes);
int scratch_file_read(struct scratch_file *file, uint64_t offset, void *data, size_t size_bytes);

/* Gives all room back to the file system, when nobody reads the data any more. Nobody writes or
 * reads meanwhile; the file is empty afterwards. */
void scratch_file_give_back(struct scratch_file *file);

/* Gives a part back, while other parts may be read and written; data behind it stays at its offset.
 * A file system that cannot do it keeps the room until the end. */
void scratch_file_give_back_part(struct scratch_file *file, uint64_t offset, uint64_t size_bytes);

/* Asks the kernel to read ahead a part that is read soon, and does not wait for it. */
void scratch_file_ask_for(const struct scratch_file *file, uint64_t offset, size_t size_bytes);

#endif
