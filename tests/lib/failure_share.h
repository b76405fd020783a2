/* Tests that let a call fail, or the process die, at each of hundreds of points, one run a point.
 */
#ifndef KINFS_TESTS_LIB_FAILURE_SHARE_H
#define KINFS_TESTS_LIB_FAILURE_SHARE_H

#include <stdint.h>
#include <stdlib.h>

/* One of how many points is tried: each by default; fewer where FAILURE_SHARE says so. */
static inline uint64_t failure_share(void)
{
    const char *share = getenv("FAILURE_SHARE");
    uint64_t n = share ? strtoull(share, NULL, 10) : 1;
    return n ? n : 1;
}

/* Of what takes a second each, and is all tried but under sanitizers: every third where it is one
 * of twenty. */
static inline uint64_t failure_step(void)
{
    return 1 + failure_share() / 10;
}

#endif
