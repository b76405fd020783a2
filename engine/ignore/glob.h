/* Patterns with *, ? and [...], as gitignore(5) has them, and the names that match; of bytes.
 *
 *   *  any bytes, also none      [a-c]  one of these; [!a-c] or [^a-c]: none of these
 *   ?  one byte                  \*     the byte itself
 *
 * fnmatch(3) takes a time that grows as the length of the name to the power of the stars of the
 * pattern; here both may be anybody's. This takes at most as many steps as the product of the two
 * lengths: of several stars only the last is ever tried again.
 */
#ifndef KINFS_ENGINE_IGNORE_GLOB_H
#define KINFS_ENGINE_IGNORE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* n_pattern, n_name  bytes; neither ends with a NUL
 * steps              what may be taken, and is taken off: when there are none left, it is false
 *
 * A class without an end matches nothing. Any thread. */
bool glob_matches(const char *pattern, size_t n_pattern, const char *name, size_t n_name,
                  size_t *steps);

#endif
