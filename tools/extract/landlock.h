/* The kernel has Landlock, and lets this process use it. */
#ifndef KINFS_TOOLS_EXTRACT_LANDLOCK_H
#define KINFS_TOOLS_EXTRACT_LANDLOCK_H

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 1 and more, or less: there is none. */
static inline long landlock_version(void)
{
#ifdef SYS_landlock_create_ruleset
    enum { SAY_VERSION = 1 };
    return syscall(SYS_landlock_create_ruleset, NULL, 0, SAY_VERSION);
#else
    return -1;
#endif
}

#endif
