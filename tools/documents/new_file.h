/* A file that is made whole before it has its name, in a directory that others may write. */
#ifndef KINFS_TOOLS_DOCUMENTS_NEW_FILE_H
#define KINFS_TOOLS_DOCUMENTS_NEW_FILE_H

#include <stdbool.h>
#include <stdint.h>

enum { NEW_FILE_NAME_BYTES = 64, NEW_FILE_DIGITS = 2 * 32 };

/* A name that nobody has guessed, behind a prefix of at most 32 bytes. Returns 0, or -EAGAIN. */
int new_file_name(const char *prefix, char ret_name[NEW_FILE_NAME_BYTES]);

/* Make one of mode 0600, open for writing, in a directory.
 *
 * prefix         of the name that it has where the file system cannot do without one
 * ret_temporary  that name, which the caller removes at the end; "": it has none
 *
 * Returns a descriptor the caller closes, -EAGAIN, or an errno of openat(2). */
int new_file_make(int directory_fd, const char *prefix, char ret_temporary[NEW_FILE_NAME_BYTES]);

/* Give one its name, which nothing else has. Returns 0, -EEXIST, or another errno of linkat(2). */
int new_file_link(int fd, int directory_fd, const char *name);

/* Read the first bytes of a file, and write them to another one, which gets this size.
 *
 * to                -1: they are read alone
 * ret_sha256        of them, in hexadecimal digits
 * ret_cannot_write  it is the writing that failed
 *
 * Returns 0, -ESTALE (the file has fewer), -ENOMEM, or an errno of unlocked_read() or pwrite(2). */
int new_file_copy(int from, int to, uint64_t size_bytes, char ret_sha256[NEW_FILE_DIGITS + 1],
                  bool *ret_cannot_write);

#endif
