/* A file without a name, for data that does not fit into memory, or that is to be read from any
 * place: it goes with the process, however that ends. */
#ifndef KINFS_BASE_FILES_UNNAMED_FILE_H
#define KINFS_BASE_FILES_UNNAMED_FILE_H

/* Make one in a directory, which may be anybody's, but is not in another user's FUSE mount, nor
 * reached by way of one: its server would read what is put there, give back another thing, or
 * nothing ever.
 *
 * Returns a descriptor (O_RDWR) the caller closes, -EXDEV for such a mount, -ENOENT, -ENOTDIR,
 * -EACCES, -EROFS, -ENOSPC or another errno of open(2). Any thread. */
int unnamed_file_make(const char *directory);

/* The same in $TMPDIR, else in /tmp, else in memory. Returns it, or an errno of memfd_create(2). */
int unnamed_file_make_temporary(void);

#endif
