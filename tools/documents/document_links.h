/* The links of a document on the disk. */
#ifndef KINFS_TOOLS_DOCUMENTS_DOCUMENT_LINKS_H
#define KINFS_TOOLS_DOCUMENTS_DOCUMENT_LINKS_H

#include "engine/topic/links/links.h"

/* links_read() of a file that is open for reading. Returns 0, -ENOMEM or an error of reading. */
int document_links_read(int fd, const char *name, const struct link_sink *sink, bool *ret_cut);

#endif
