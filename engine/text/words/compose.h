/* Canonical composition (The Unicode Standard, 3.11; NFC), a character at a time. Private to
 * engine/text. */
#ifndef KINFS_ENGINE_TEXT_WORDS_COMPOSE_H
#define KINFS_ENGINE_TEXT_WORDS_COMPOSE_H

#include "engine/text/words/unicode.h"

enum { COMPOSE_MARKS_MAX = 30 }; /* of a letter */

/* Joins a character to the token before it, which is composed already.
 *
 * bytes     the token is bytes[start .. end), not empty, and the folded character the n behind it;
 *           UNICODE_EXPANSION_MAX_BYTES more may be written there
 * property  of the character, whose class is UNICODE_SECOND or past it
 * ret_tail  the beginning of the letter that it is a mark of, if the token is longer now than
 *           CANON_TOKEN_MAX_BYTES; start, where there is no such letter
 *
 * Marks past COMPOSE_MARKS_MAX are left as they come, which bounds the time of each (the
 * Stream-Safe Text Format of UAX #15 has as many). Returns the new end of the token.
 */
uint32_t compose_join(uint8_t *bytes, uint32_t start, uint32_t end, uint32_t n,
                      const struct unicode_property *property, uint32_t *ret_tail);

#endif
