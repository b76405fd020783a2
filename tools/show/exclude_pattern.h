/* Patterns of backup tools, each of which leaves out one file and no other: what a list says that a
 * tool reads with its option for such lists.
 *
 * A tool's format may have no way to say a name exactly. Then there is no pattern for it: a file
 * too many in a backup does no harm, and one too few may.
 */
#ifndef KINFS_TOOLS_SHOW_EXCLUDE_PATTERN_H
#define KINFS_TOOLS_SHOW_EXCLUDE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

struct exclude_format;

/* Returns NULL for a name of none. */
const struct exclude_format *exclude_format_of(const char *name);

/* The patterns are of absolute paths; else of paths from the directory on that is backed up. */
bool exclude_format_is_absolute(const struct exclude_format *format);

/* The pattern of a file, with what ends it. path: absolute, or without a slash in front;
 * ret_pattern gives. Returns 0; -EILSEQ: the format cannot say that name; or -ENOMEM. */
int exclude_pattern_make(const struct exclude_format *format, const char *path, char **ret_pattern,
                         size_t *ret_n_bytes);

#endif
