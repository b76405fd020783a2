/* Waiting until the index has been told of all that was changed beside the mount. Who waits has a
 * number; the reader sends it after the events that were there, in a batch of its own, and whoever
 * tells the index has told it of those when that batch comes by.
 */
#include <errno.h>
#include <sys/eventfd.h>

#include "base/deadline.h"
#include "base/thread.h"
#include "fs/watch_private.h"

void watch_settle_init(struct watch *watch)
{
    pthread_mutex_init(&watch->settle_lock, NULL);
    thread_cond_init(&watch->settled);
}

void watch_settle_done(struct watch *watch)
{
    pthread_cond_destroy(&watch->settled);
    pthread_mutex_destroy(&watch->settle_lock);
}

int fs_settle(struct fs *fs, int wait_ms)
{
    struct watch *watch = fs->watch;
    struct timespec end = deadline_after_ms(wait_ms);
    if (!watch || !watch->index.started)
        return 0;
    LOCKED(&watch->settle_lock);
    uint64_t wish = ++watch->settle_wanted;
    eventfd_write(watch->wake_fd, 1);
    while (watch->settle_told < wish)
        if (pthread_cond_timedwait(&watch->settled, &watch->settle_lock, &end) == ETIMEDOUT)
            return -ETIMEDOUT;
    return 0;
}

uint64_t watch_settle_wanted(struct watch *watch)
{
    LOCKED(&watch->settle_lock);
    return watch->settle_wanted;
}

void watch_settle_pass_on(struct watch *watch, uint64_t wish)
{
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    if (!batch)
        return;
    batch->settles = wish;
    if (watch_post_push(&watch->index, batch))
        watch->settle_passed_on = wish;
}

void watch_settle_tell(struct watch *watch, uint64_t wish)
{
    LOCKED(&watch->settle_lock);
    watch->settle_told = wish;
    pthread_cond_broadcast(&watch->settled);
}
