/* A turn is had by one thread of each user, whose requests may take longer than others. The kernel
 * holds the lock of a directory for a request, for a rename(2) that of all renames between
 * directories of the mount, too, and as many threads as queue for such a lock would each have it
 * for that time, one after the other. So the user's other threads have a time for all of them: a
 * request may take a part of what is left of it, and what it takes comes back a quarter as fast as
 * time goes by. Who waits behind them waits for little more than that time, and for SLOW_MS each.
 *
 * Threads: any. A leaf lock, held for some steps.
 */
#ifndef KINFS_FS_VIEWS_SLOW_TURNS_H
#define KINFS_FS_VIEWS_SLOW_TURNS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    SLOW_TURNS_BUCKETS = 1024,
    SLOW_TURN_MS = 20000,
    SLOW_MS = 50,   /* what is quicker takes nothing of the time, and is had by who has none left */
    SLOW_PART = 4,  /* one of so many of what is left a request may take */
    SLOW_AGAIN = 4, /* what was taken comes back in so many times as long */
};

struct slow_user;

struct slow_turns {
    pthread_mutex_t lock;
    struct slow_user *buckets[SLOW_TURNS_BUCKETS]; /* of users who have had some of it of late */
};
void slow_turns_init(struct slow_turns *turns);
void slow_turns_done(struct slow_turns *turns);

/* thread  any number that is its own for as long as it waits
 * now_ms  as clock_now_ms() has it */

/* True: the turn is the thread's, for SLOW_TURN_MS from now on; false: it is another one's, or
 * there is no memory. */
bool slow_turns_take(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t now_ms);

/* The time that a request may take, which begins now: most_ms where the turn is the thread's, or
 * nobody's, or nothing was taken of the time of the others, SLOW_PART times most_ms; SLOW_MS where
 * nothing is left. */
int64_t slow_turns_allowed_ms(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t most_ms,
                              int64_t now_ms);

/* A request has ended. What several take at once counts once; what was quick, or was its whose the
 * turn is, does not, nor what is more than there was. */
void slow_turns_end(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t most_ms,
                    int64_t since_ms, int64_t now_ms);

#endif
