/* A character to UTF-8 and from it. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_ENCODING_UTF8_H
#define KINFS_ENGINE_TEXT_ENCODING_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX_BYTES = 4 };

/* Puts a character, up to U+10FFFF. Returns the number of bytes. */
static inline size_t utf8_put(uint8_t to[UTF8_MAX_BYTES], uint32_t code)
{
    if (code < 0x80) {
        to[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (uint8_t)(0xc0 | code >> 6);
        to[1] = (uint8_t)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (uint8_t)(0xe0 | code >> 12);
        to[1] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
        to[2] = (uint8_t)(0x80 | (code & 0x3f));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | code >> 18);
    to[1] = (uint8_t)(0x80 | (code >> 12 & 0x3f));
    to[2] = (uint8_t)(0x80 | (code >> 6 & 0x3f));
    to[3] = (uint8_t)(0x80 | (code & 0x3f));
    return 4;
}

/* Gets a whole character; UTF8_MAX_BYTES may be read. Malformed bytes are taken one by one, as
 * spaces. Returns how many bytes. */
static inline __attribute__((always_inline)) size_t utf8_get(const uint8_t *p, uint32_t *ret_code)
{
    uint32_t first = p[0], second = p[1] ^ 0x80u, third = p[2] ^ 0x80u, fourth = p[3] ^ 0x80u;
    uint32_t code;
    if (first < 0x80) {
        *ret_code = first;
        return 1;
    }
    *ret_code = ' ';
    if (first < 0xe0) {
        if (first < 0xc2 || second > 0x3f)
            return 1;
        *ret_code = (first & 0x1f) << 6 | second;
        return 2;
    }
    if (first < 0xf0) {
        code = (first & 0x0f) << 12 | second << 6 | third;
        if ((second | third) > 0x3f || code < 0x800 || (code >= 0xd800 && code <= 0xdfff))
            return 1;
        *ret_code = code;
        return 3;
    }
    code = (first & 0x07) << 18 | second << 12 | third << 6 | fourth;
    if (first > 0xf4 || (second | third | fourth) > 0x3f || code < 0x10000 || code >= 0x110000)
        return 1;
    *ret_code = code;
    return 4;
}

#endif
