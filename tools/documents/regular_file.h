/* Documents that are named on the command line. */
#ifndef KINFS_TOOLS_DOCUMENTS_REGULAR_FILE_H
#define KINFS_TOOLS_DOCUMENTS_REGULAR_FILE_H

#include "tools/documents/document_list.h"

/* Open a regular file for reading, and nothing else: to open a device does something already, and
 * whoever writes a tree can have a link to one there.
 *
 * Returns a descriptor the caller closes, -EINVAL for what is no regular file, or an errno of
 * open(2). Three system calls; never waits for a FIFO. Any thread. */
int regular_file_open(const char *path);

/* The same of what a walk found by the path, which may lead elsewhere by now: who can write there
 * can have put a link in its place. Also -ESTALE. */
int regular_file_open_found(const char *path, const struct document_inode *found);

#endif
