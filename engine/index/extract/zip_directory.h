/* The kind of document that a ZIP archive is, by the names in its directory. */
#ifndef KINFS_ENGINE_INDEX_EXTRACT_ZIP_DIRECTORY_H
#define KINFS_ENGINE_INDEX_EXTRACT_ZIP_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/text/type.h"

/* True: a file that begins with these bytes may be a ZIP archive. Nanoseconds. */
bool zip_directory_may_be(const void *head, size_t size_bytes);

/* fd  open for reading, a file whose size is known
 *
 * Returns TEXT_OFFICE, TEXT_EPUB, or TEXT_BINARY: another archive, or none. Any thread; two reads
 * of 1 MiB at most: what has a longer directory is no such document. Microseconds for what is
 * cached. */
enum text_type zip_directory_type(int fd);

#endif
