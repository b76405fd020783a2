/* What kind of document it is, by its content: names do not count, users rename. */
#ifndef KINFS_ENGINE_TEXT_TYPE_H
#define KINFS_ENGINE_TEXT_TYPE_H

#include <stddef.h>

enum { TEXT_SNIFF_BYTES = 8192 };

/* The numbers are stored in records: new ones are added at the end. */
enum text_type {
    TEXT_PLAIN,
    TEXT_HTML,
    TEXT_BINARY, /* has no canonical form */
    TEXT_N_TYPES,
};

/* What kind of document begins with these bytes: binary when there is a NUL among the first
 * TEXT_SNIFF_BYTES, HTML by its first markup. Pass the first min(size, TEXT_SNIFF_BYTES) bytes of
 * the document. Any thread.
 */
enum text_type text_type_sniff(const void *head, size_t size_bytes);
const char *text_type_name(enum text_type type); /* "text", "html", "binary" */

#endif
