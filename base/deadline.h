/* The end of a bounded wait, on the monotonic clock, as pthread_cond_timedwait(3) takes it. */
#ifndef KINFS_BASE_DEADLINE_H
#define KINFS_BASE_DEADLINE_H

#include <time.h>

static inline struct timespec deadline_after_ms(int wait_ms)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += wait_ms / 1000;
    end.tv_nsec += wait_ms % 1000 * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_sec++;
        end.tv_nsec -= 1000000000L;
    }
    return end;
}

#endif
