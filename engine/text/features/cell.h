/* The form of a table's cell: texts that are equal as words are equal as cells. Private to
 * engine/text.
 */
#ifndef KINFS_ENGINE_TEXT_FEATURES_CELL_H
#define KINFS_ENGINE_TEXT_FEATURES_CELL_H

#include <stddef.h>
#include <stdint.h>

#include "engine/text/words/unicode.h"
#include "engine/text/encoding/utf8.h"

/* A character of two bytes or more becomes UNICODE_EXPANSION_MAX_BYTES at most. */
#define CELL_FORM_BYTES(n) ((n)*UNICODE_EXPANSION_MAX_BYTES / 2 + UNICODE_EXPANSION_MAX_BYTES)

/* Brings a cell into its form: case and forms of letters folded, composed (NFC), without characters
 * that have no width, as words are (canon.h), but with everything between words. There, forms of
 * width are folded, and any white space character and each malformed byte is a space.
 *
 * bytes  size_bytes of UTF-8, of which cell_form_ascii() was made, and UTF8_MAX_BYTES more of zero
 * to     room for CELL_FORM_BYTES(size_bytes)
 *
 * Returns how many bytes it has. */
size_t cell_form(const uint8_t *bytes, size_t size_bytes, uint8_t *to);

static inline uint8_t cell_form_ascii(uint8_t byte)
{
    return byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte;
}

#endif
