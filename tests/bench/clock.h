/* What benchmarks tell time by, in seconds since whenever: only differences mean something. */
#ifndef KINFS_TESTS_BENCH_CLOCK_H
#define KINFS_TESTS_BENCH_CLOCK_H

#include <time.h>

static inline double clock_s(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double clock_wall_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

/* Processor time of all threads of the process, those that have ended too. */
static inline double clock_process_s(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

/* Processor time of the calling thread. */
static inline double clock_thread_s(void)
{
    return clock_s(CLOCK_THREAD_CPUTIME_ID);
}

/* Processor time of all threads but the calling one. */
static inline double clock_others_s(void)
{
    return clock_process_s() - clock_thread_s();
}

#endif
