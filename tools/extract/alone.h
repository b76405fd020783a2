/* A built-in program is alone once it has given up what it does not need, before it sees the
 * document. */
#ifndef KINFS_TOOLS_EXTRACT_ALONE_H
#define KINFS_TOOLS_EXTRACT_ALONE_H

#include <sys/prctl.h>
#include <sys/resource.h>

/* They need no second process or thread: the bounds of one are those of the run. And nobody of
 * their own user looks into them. */
static inline void extract_alone(void)
{
    (void)setrlimit(RLIMIT_NPROC, &(struct rlimit){0, 0});
    (void)prctl(PR_SET_DUMPABLE, 0);
}

#endif
