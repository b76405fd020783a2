/* The charset of a text by its bytes, as libuchardet tells it. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_CHARSET_GUESS_H
#define KINFS_ENGINE_TEXT_CHARSET_GUESS_H

#include <stddef.h>
#include <stdint.h>

struct uchardet;

enum { CHARSET_GUESS_BYTES = 64 * 1024 }; /* as many are looked at */

/* The name that iconv has for the charset of a text, which is not UTF-8, from its first character
 * on that is not ASCII; NULL where it is Windows-1252 or there is too little to tell. It is valid
 * until the next guess.
 *
 * detector  NULL for one that is made here, for charset_guess_done() to free
 *
 * Some ten milliseconds for CHARSET_GUESS_BYTES. Takes memory from the library.
 */
const char *charset_guess(struct uchardet **detector, const uint8_t *bytes, size_t size_bytes);
void charset_guess_done(struct uchardet *detector);

#endif
