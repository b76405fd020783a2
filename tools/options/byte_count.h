/* Numbers of bytes, as people write them. */
#ifndef KINFS_TOOLS_OPTIONS_BYTE_COUNT_H
#define KINFS_TOOLS_OPTIONS_BYTE_COUNT_H

#include <stdint.h>

/* Read "1000", "512M", "1.5G": K, M, G and T are powers of 1024. From 1 to 2^60.
 * Returns 0, or -EINVAL. */
int byte_count_parse(const char *text, uint64_t *ret_bytes);

#endif
