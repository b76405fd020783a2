/* Time that only runs forward, to measure by; and the time of day. */
#ifndef KINFS_BASE_CLOCK_H
#define KINFS_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Never 0, which may therefore stand for no time. */
static inline int64_t clock_now_ms(void)
{
    return clock_now_us() / 1000 + 1;
}

/* The processor's time that the calling thread has taken. */
static inline int64_t clock_thread_us(void)
{
    struct timespec taken;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
    return (int64_t)taken.tv_sec * 1000000 + taken.tv_nsec / 1000;
}

/* Nanoseconds since 1970, as far as the machine knows. */
static inline uint64_t clock_real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
