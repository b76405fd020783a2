/* When to stop with what there is: a reader that goes on until it is killed has given nothing. */
#ifndef KINFS_TOOLS_EXTRACT_CLOCK_H
#define KINFS_TOOLS_EXTRACT_CLOCK_H

#include <stdbool.h>
#include <sys/resource.h>
#include <time.h>

struct extract_clock {
    struct timespec end;
    bool bounded;
};

/* Three quarters of what the limit of the processor, which is that of the whole, allows. */
static inline struct extract_clock extract_clock_start(void)
{
    struct extract_clock clock = {0};
    struct rlimit limit;
    clock.bounded = getrlimit(RLIMIT_CPU, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    if (!clock.bounded)
        return clock;
    clock_gettime(CLOCK_MONOTONIC, &clock.end);
    clock.end.tv_sec += (time_t)(limit.rlim_cur * 3 / 4);
    return clock;
}

static inline bool extract_clock_is_over(const struct extract_clock *clock)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return clock->bounded &&
           (now.tv_sec > clock->end.tv_sec ||
            (now.tv_sec == clock->end.tv_sec && now.tv_nsec >= clock->end.tv_nsec));
}

#endif
