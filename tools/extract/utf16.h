/* XML in UTF-16, told by how it begins and written as UTF-8, piece by piece. */
#ifndef KINFS_TOOLS_EXTRACT_UTF16_H
#define KINFS_TOOLS_EXTRACT_UTF16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct utf16 {
    bool big_endian, has_byte;
    uint8_t byte;  /* has_byte: the first of a unit whose other one has not come yet */
    uint16_t high; /* the first half of a surrogate pair, or 0 */
};

/* A document that begins with these bytes is in UTF-16: by a byte order mark, or a "<" of two bytes
 * (XML 1.0, appendix F). False leaves *ret_utf16 as it was. */
bool utf16_begin(const uint8_t *head, size_t size_bytes, struct utf16 *ret_utf16);

/* The next bytes, of any number. Half a surrogate pair becomes U+FFFD; byte order marks are left
 * out. */
void utf16_write(struct utf16 *utf16, const uint8_t *bytes, size_t size_bytes, FILE *to);

#endif
