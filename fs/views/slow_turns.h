/* A turn is had by one thread of each user, whose requests may take longer than others. The kernel
 * holds the lock of a directory for a request, and as many threads as queue for that lock would
 * each have it for that time, one after the other.
 *
 * Threads: any. A leaf lock, held for some steps.
 */
#ifndef KINFS_FS_VIEWS_SLOW_TURNS_H
#define KINFS_FS_VIEWS_SLOW_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SLOW_TURNS_BUCKETS = 1024, SLOW_TURN_MS = 20000 };

struct slow_turns {
    pthread_mutex_t lock;
    /* The last one that took it, of the users who share a bucket, and until when it is that one's.
     */
    struct slow_turn {
        uid_t uid;
        uint64_t thread;
        int64_t end_ms;
    } turns[SLOW_TURNS_BUCKETS];
};
void slow_turns_init(struct slow_turns *turns);
void slow_turns_done(struct slow_turns *turns);

/* True: the turn is the thread's, for SLOW_TURN_MS from now on; false: it is another one's.
 *
 * thread  any number that is its own for as long as it waits
 * now_ms  as clock_now_ms() has it */
bool slow_turns_take(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t now_ms);

#endif
