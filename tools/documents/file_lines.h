/* The lines of a file, packed or not, one after the other. */
#ifndef KINFS_TOOLS_DOCUMENTS_FILE_LINES_H
#define KINFS_TOOLS_DOCUMENTS_FILE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

/* A line, or a part of one that is longer than a part may be. */
struct file_line {
    const uint8_t *bytes; /* valid until the next one; with the newline, where there is one */
    size_t n_bytes;
    bool begins, ends; /* whether it is the first, the last part of its line */
};

struct file_lines;

/* most_bytes  of a part
 * padding     so many bytes behind a line may be read
 * NULL: no memory. */
struct file_lines *file_lines_new(size_t most_bytes, size_t padding);
void file_lines_free(struct file_lines *reader);
DEFINE_CLEANUP(struct file_lines *, file_lines_free);

/* Begin a file, which is read as base/files/fd_whole.h does; fd is borrowed. What begins like a
 * file of gzip, xz, zstd, bzip2 or lz4 is unpacked, as long as it may be; is_zstd: it is zstd,
 * however it begins. Returns 0 or an errno. */
int file_lines_begin(struct file_lines *reader, int fd, bool is_zstd);

/* Returns 1, 0 at the end, -EBADMSG (packed bytes are damaged, or missing), -EFBIG (unpacking would
 * take more than 128 MiB of memory), -ENOMEM, or an error of reading. Lines before a damage have
 * been returned. */
int file_lines_next(struct file_lines *reader, struct file_line *ret_line);

#endif
