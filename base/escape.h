/* Names as `ls -b` prints them, so that any name fits on one line of text. */
#ifndef KINFS_BASE_ESCAPE_H
#define KINFS_BASE_ESCAPE_H

#include <stddef.h>

/* Escape a name: control characters and bytes that are not UTF-8 as C escapes or \ooo,
 * backslash as \\, space as "\ ".
 *
 * name        borrowed, NUL-terminated
 * ret_escaped gives a NUL-terminated heap string
 *
 * Returns 0 or -ENOMEM. Any thread. Linear in the length of the name.
 */
int escape_name(const char *name, char **ret_escaped);

#endif
