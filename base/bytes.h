/* Byte strings: big-endian integers in them, whose byte order is their numeric order, and their
 * beginnings. */
#ifndef KINFS_BASE_BYTES_H
#define KINFS_BASE_BYTES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline void put_be16(void *p, uint16_t v)
{
    v = __builtin_bswap16(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_be32(void *p, uint32_t v)
{
    v = __builtin_bswap32(v);
    memcpy(p, &v, sizeof(v));
}

static inline void put_be64(void *p, uint64_t v)
{
    v = __builtin_bswap64(v);
    memcpy(p, &v, sizeof(v));
}

static inline uint16_t get_be16(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return __builtin_bswap16(v);
}

static inline uint32_t get_be32(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return __builtin_bswap32(v);
}

static inline uint64_t get_be64(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return __builtin_bswap64(v);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "a big-endian host needs these six functions without the swap"
#endif

/* True when the first bytes are those of the text. */
static inline bool bytes_begin(const void *bytes, size_t size_bytes, const char *text)
{
    return size_bytes >= strlen(text) && memcmp(bytes, text, strlen(text)) == 0;
}

#endif
