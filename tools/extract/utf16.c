#include "tools/extract/utf16.h"

#include <string.h>

enum { BYTE_ORDER_MARK = 0xfeff, REPLACEMENT = 0xfffd };

bool utf16_begin(const uint8_t *head, size_t size_bytes, struct utf16 *ret_utf16)
{
    if (size_bytes < 2)
        return false;
    const bool big_endian = memcmp(head, "\xfe\xff", 2) == 0 || memcmp(head, "\0<", 2) == 0;
    if (!big_endian && memcmp(head, "\xff\xfe", 2) != 0 && memcmp(head, "<\0", 2) != 0)
        return false;
    *ret_utf16 = (struct utf16){.big_endian = big_endian};
    return true;
}

static void put(uint32_t c, FILE *to)
{
    if (c == BYTE_ORDER_MARK)
        return;
    if (c < 0x80) {
        putc((int)c, to);
    } else if (c < 0x800) {
        putc((int)(0xc0 | c >> 6), to);
    } else if (c < 0x10000) {
        putc((int)(0xe0 | c >> 12), to);
    } else {
        putc((int)(0xf0 | c >> 18), to);
        putc((int)(0x80 | (c >> 12 & 0x3f)), to);
    }
    if (c >= 0x800)
        putc((int)(0x80 | (c >> 6 & 0x3f)), to);
    if (c >= 0x80)
        putc((int)(0x80 | (c & 0x3f)), to);
}

static void put_unit(struct utf16 *utf16, uint16_t unit, FILE *to)
{
    const bool is_high = (unit & 0xfc00) == 0xd800, is_low = (unit & 0xfc00) == 0xdc00;
    const uint16_t high = utf16->high;
    utf16->high = is_high ? unit : 0;
    if (high && is_low) {
        put(0x10000 + ((uint32_t)(high & 0x3ff) << 10 | (unit & 0x3ff)), to);
        return;
    }
    if (high)
        put(REPLACEMENT, to);
    if (!is_high)
        put(is_low ? REPLACEMENT : unit, to);
}

void utf16_write(struct utf16 *utf16, const uint8_t *bytes, size_t size_bytes, FILE *to)
{
    for (size_t i = 0; i < size_bytes; i++) {
        if (utf16->has_byte) {
            const unsigned first = utf16->byte, second = bytes[i];
            put_unit(utf16,
                     (uint16_t)(utf16->big_endian ? first << 8 | second : second << 8 | first), to);
        }
        utf16->byte = bytes[i];
        utf16->has_byte = !utf16->has_byte;
    }
}
