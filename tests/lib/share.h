/* How much is done of what a test repeats: all of it by default; elsewhere, where each takes
 * several times as long or many tests run, one of so many, as the environment says. */
#ifndef KINFS_TESTS_LIB_SHARE_H
#define KINFS_TESTS_LIB_SHARE_H

#include <stdint.h>
#include <stdlib.h>

static inline uint64_t share_named(const char *name)
{
    const char *share = getenv(name);
    uint64_t n = share ? strtoull(share, NULL, 10) : 1;
    return n ? n : 1;
}

/* Of points at which a call fails, or the process dies, one run a point, of which there are
 * hundreds: one of how many is tried. */
static inline uint64_t failure_share(void)
{
    return share_named("FAILURE_SHARE");
}

/* Of what takes a second each, and is all tried but under sanitizers: every fifth where it is one
 * of forty. */
static inline uint64_t failure_step(void)
{
    return 1 + failure_share() / 10;
}

/* Of the trials that an estimate is told by, within tolerances that know how many they are. */
static inline unsigned trial_share(void)
{
    return (unsigned)share_named("TRIALS_SHARE");
}

/* Of so many seeds, rounds or documents, all of the same kind, as many as are to be had: at least
 * one of any. */
static inline unsigned part_of(unsigned n)
{
    const uint64_t share = share_named("REPEAT_SHARE");
    return (unsigned)((n + share - 1) / share);
}

#endif
