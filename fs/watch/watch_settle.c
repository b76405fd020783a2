/* Waiting until the index has been told of all that was changed beside the mount. The kernel queues
 * an event before the call returns that made it, so what was done before somebody asks is queued by
 * then, or taken from the queue. Who waits has a number; the reader sends the last one with the
 * events that were there, and whoever tells the index has told it of those when that batch has come
 * by.
 */
#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "base/deadline.h"
#include "base/thread.h"
#include "fs/watch/watch_private.h"

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

/* Nothing is on its way to the index: not queued, not taken from the queue by the reader, not given
 * to the post. In this order, which is that of the way. */
static bool is_told(struct watch *watch)
{
    struct pollfd queue = {.fd = watch->source_fd, .events = POLLIN};
    return poll(&queue, 1, 0) == 0 && !atomic_load(&watch->reading_since_ms) &&
           !atomic_load(&watch->lost) && watch_post_is_idle(&watch->index);
}

int fs_settle(struct fs *fs, bool all, uint64_t *ticket, int wait_ms)
{
    struct watch *watch = fs->watch;
    if (!watch)
        return 0;
    if (!watch->source && fs->index)
        watch_mounts_catch_up(watch);
    if (!watch->index.started || (!*ticket && !all && is_told(watch)))
        return 0;
    struct timespec end = deadline_after_ms(wait_ms);
    LOCKED(&watch->settle_lock);
    if (!*ticket) {
        *ticket = ++watch->settle_wanted;
        if (all)
            watch->settle_all = *ticket;
        eventfd_write(watch->wake_fd, 1);
    }
    while (watch->settle_told < *ticket)
        if (pthread_cond_timedwait(&watch->settled, &watch->settle_lock, &end) == ETIMEDOUT)
            return watch->settle_told < *ticket ? -ETIMEDOUT : 0;
    return 0;
}

bool watch_settle_is_wanted(struct watch *watch)
{
    LOCKED(&watch->settle_lock);
    return watch->settle_passed_on < watch->settle_wanted;
}

struct watch_wish watch_settle_wish(struct watch *watch)
{
    LOCKED(&watch->settle_lock);
    if (watch->settle_passed_on == watch->settle_wanted)
        return (struct watch_wish){0};
    return (struct watch_wish){.number = watch->settle_wanted,
                               .all = watch->settle_all > watch->settle_passed_on};
}

void watch_settle_passed_on(struct watch *watch, struct watch_wish wish)
{
    if (wish.number)
        watch->settle_passed_on = wish.number;
}
