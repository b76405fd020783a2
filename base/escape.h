/* Names as `ls -b` prints them, and messages, so that any text fits on one line. */
#ifndef KINFS_BASE_ESCAPE_H
#define KINFS_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Escape a name: control characters, those that turn a line round and bytes that are not UTF-8 as C
 * escapes or \ooo, backslash as \\, space as "\ ".
 *
 * name        borrowed, NUL-terminated
 * ret_escaped gives a NUL-terminated heap string
 *
 * Returns 0 or -ENOMEM. Any thread. Linear in the length of the name.
 */
int escape_name(const char *name, char **ret_escaped);

/* True for a character that a line may show: no control character, none of the two others that end
 * a line, U+2028 and U+2029, and none of those that turn it round (Bidi_Control of Unicode). */
bool escape_shows(uint32_t code);

/* Make of an escaped name the name, in place. Returns 0, or -EINVAL where a backslash begins no
 * escape. Any thread. Linear in its length.
 */
int escape_take_back(char *escaped);

/* Make each byte of what a terminal could obey, end a line at or show in another order '?', in
 * place: control characters, U+0080 to U+009F and bytes of these values that are not UTF-8, U+2028,
 * U+2029, and those that write from right to left is controlled by. For messages; of a name
 * escape_name() loses nothing. Returns the text. Any thread. Linear in its length.
 */
char *escape_make_plain(char *text);

#endif
