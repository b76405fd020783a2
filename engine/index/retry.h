/* Repeat a store call that failed for a passing reason. kv.h lets any call answer -EAGAIN (nothing
 * happened) or -ETIMEDOUT (it may have happened); every write of the index is idempotent, so both
 * are answered by doing it again. */
#ifndef KINFS_ENGINE_INDEX_RETRY_H
#define KINFS_ENGINE_INDEX_RETRY_H

#include <stdbool.h>

struct retry {
    unsigned n_failures;
};

/* Whether to repeat the call that returned r; sleeps before it says so. Gives up after about two
 * seconds of failures. Not under a lock. */
bool retry_wanted(struct retry *retry, int r);

/* The call's last result. */
#define RETRY(call)                                                                                \
    ({                                                                                             \
        struct retry retry_ = {0};                                                                 \
        int retry_result_;                                                                         \
        do                                                                                         \
            retry_result_ = (call);                                                                \
        while (retry_wanted(&retry_, retry_result_));                                              \
        retry_result_;                                                                             \
    })

#endif
