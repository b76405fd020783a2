/* Room for something that the daemon has only so many of (descriptors, threads that wait), and how
 * much of it each user has taken: nobody leaves the others without.
 *
 * A user may have as many as are left then, and no more: the first one half of them, the next half
 * of what that leaves at the least. Root is one of them, as any user can begin set-uid programs;
 * so that these leave root its own, who began them is charged once root has some. A daemon that is
 * not root's neither counts nor refuses the user it runs as.
 */
#ifndef KINFS_FS_INODES_USER_ROOM_H
#define KINFS_FS_INODES_USER_ROOM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum {
    USER_ROOM_BUCKETS = 256,
    USER_ROOM_ROOTS_PART = 32, /* one of so many root may have, whoever began who asks */
};

/* Uids that are no user's: */
#define USER_NOBODY ((uid_t)-1)  /* neither counted nor refused */
#define USER_UNKNOWN ((uid_t)-2) /* root's processes of which it is not known who began them */

struct user_share;

struct user_room {
    pthread_mutex_t lock; /* of what changes; a leaf */
    uid_t own_uid;
    size_t n_max, n_taken;
    struct user_share *buckets[USER_ROOM_BUCKETS];
};

void user_room_init(struct user_room *room, size_t n_max);
void user_room_done(struct user_room *room); /* one that is all zero allowed */

/* The payer is the user whose room something takes that a thread of a user asks for, by its number:
 * the user's; of root, once it has its part, that of the thread's real user. Any thread; some 50 ns
 * of root, and then what thread_real_uid() takes. */
uid_t user_room_payer(struct user_room *room, uid_t uid, pid_t thread);

/* Take n of them, or none: whether there was room (and memory to count). To be given back by
 * user_room_leave(). Any thread; some 50 ns. */
bool user_room_enter(struct user_room *room, uid_t uid, size_t n);
void user_room_leave(struct user_room *room, uid_t uid, size_t n);
/* The room has none even for a user who has none. */
bool user_room_is_full(struct user_room *room);

#endif
