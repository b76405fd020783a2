/* Text in units of 16 or 32 bits: UTF-16 and UTF-32, with a byte order mark or without. Private to
 * engine/text. */
#ifndef KINFS_ENGINE_TEXT_ENCODING_WIDE_H
#define KINFS_ENGINE_TEXT_ENCODING_WIDE_H

#include <stdint.h>

#include "engine/text/type.h"

/* The one of the four charsets that a document with this head is in; TEXT_CHARSET_ASCII for none.
 * Without a mark there must be a NUL byte among the first WIDE_WITHIN_BYTES, and every unit of the
 * head must be a character, nearly all of them as texts have, in one byte order; a few units tell
 * too little. A head without a NUL takes some nanoseconds. */
enum { WIDE_WITHIN_BYTES = 1024 };
enum text_charset wide_sniff(const uint8_t *head, size_t size_bytes);

/* The first characters of a document in one of the four: those of ASCII, a space for a mark, and
 * 0x80 for the others. Returns how many. */
size_t wide_narrow(enum text_charset charset, const uint8_t *head, size_t size_bytes,
                   uint8_t ret_bytes[TEXT_SNIFF_BYTES / 2]);

static inline uint32_t wide_unit(const uint8_t *p, unsigned unit_bytes, bool big)
{
    uint32_t unit = 0;
    for (unsigned i = 0; i < unit_bytes; i++)
        unit = unit << 8 | p[big ? i : unit_bytes - 1 - i];
    return unit;
}

#endif
