/* Documents that are named on the command line. */
#ifndef KINFS_TOOLS_DOCUMENTS_REGULAR_FILE_H
#define KINFS_TOOLS_DOCUMENTS_REGULAR_FILE_H

#include "tools/documents/document_list.h"
#include "tools/documents/place.h"

/* Open a regular file for reading, and nothing else: to open a device does something already, and
 * whoever writes a tree can have a link to one there.
 *
 * Returns a descriptor the caller closes, -EINVAL for what is no regular file, -EXDEV in another
 * user's FUSE mount, or an errno of open(2). Never waits for a FIFO. Any thread. */
int regular_file_open(const char *path);

/* The same of what has been reached already, O_PATH. */
int regular_file_open_place(int place_fd);

/* The same of a document of a list, to which the path may not lead any more: who can write there
 * can have put a link or a mount in its place. way as of place_open(). Also -ESTALE (it was
 * replaced). */
int regular_file_open_found(const struct document_list *list, uint32_t i, struct place_way *way);

#endif
