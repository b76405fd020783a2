/* A character to UTF-8. Private to engine/text. */
#ifndef KINFS_ENGINE_TEXT_UTF8_H
#define KINFS_ENGINE_TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX_BYTES = 4 };

/* code: up to U+10FFFF. Returns how many bytes. */
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

#endif
