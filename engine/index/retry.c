#include "engine/index/retry.h"

#include <errno.h>
#include <time.h>

/* 0.1 ms, doubled up to 51 ms: a conflict is over at the first repeat, a store that moves its data
 * within seconds; a longer outage is the caller's to report and repeat. */
enum { RETRY_MAX = 48, FIRST_WAIT_NS = 100000, MAX_DOUBLINGS = 9 };

bool retry_wanted(struct retry *retry, int r)
{
    if ((r != -EAGAIN && r != -ETIMEDOUT) || retry->n_failures == RETRY_MAX)
        return false;
    unsigned doublings = retry->n_failures < MAX_DOUBLINGS ? retry->n_failures : MAX_DOUBLINGS;
    retry->n_failures++;
    nanosleep(&(struct timespec){.tv_nsec = (long)FIRST_WAIT_NS << doublings}, NULL);
    return true;
}
