/* Lengths of time, as people write them. */
#ifndef KINFS_TOOLS_OPTIONS_DURATION_H
#define KINFS_TOOLS_OPTIONS_DURATION_H

#include <stdint.h>

/* Read "30d", "12h", "1y": s, m, h, d, w and y (365 days), whole numbers, up to 1,000 years; or
 * "0". Returns 0, or -EINVAL. */
int duration_parse(const char *text, uint64_t *ret_seconds);

/* The same of how long the past is kept, as index_options.keep_lost_s: 0 is INDEX_KEEP_LOST_NONE.
 */
int duration_parse_keep_lost(const char *text, uint64_t *ret_keep_lost_s);

#define DURATION_FORMS "a number and s, m, h, d, w or y, as 30d"

#endif
