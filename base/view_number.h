/* The inode numbers of views, which a mount of kinfs makes up: the same for a path at every mount,
 * in a range of their own (bit 62 set, bit 63 not, so that they are positive where a number is
 * signed), and so neither 0 nor 1. By them a view is told from a file of the tree. */
#ifndef KINFS_BASE_VIEW_NUMBER_H
#define KINFS_BASE_VIEW_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define VIEW_NUMBER_TOP UINT64_C(0xcbf29ce484222325)

/* The hash of a path (FNV-1a), with more bytes behind it; of the mount's top VIEW_NUMBER_TOP. */
static inline uint64_t view_number_hash(uint64_t h, const char *s)
{
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return h;
}

/* A bijection that lets every bit of h reach every bit of the result; FNV alone leaves the upper
 * ones of short strings alike. */
static inline uint64_t view_number_mix(uint64_t h)
{
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static inline uint64_t view_number(uint64_t path_hash)
{
    return (view_number_mix(path_hash) & (UINT64_MAX >> 2)) | UINT64_C(1) << 62;
}

/* The number is that of a view of this name at the top of a mount of kinfs. */
static inline bool view_number_is(uint64_t number, const char *name)
{
    return number == view_number(view_number_hash(VIEW_NUMBER_TOP, name));
}

#endif
