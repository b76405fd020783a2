/* How much of one kind each user, and all together, have open: what a user makes the daemon keep is
 * on disks, in memory and in descriptors that are not the user's, and others want room too.
 */
#ifndef KINFS_FS_ROOM_H
#define KINFS_FS_ROOM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct room_limits {
    unsigned n_max, n_of_a_user_max; /* open ones */
    uint64_t bytes_max, bytes_of_a_user_max;
    bool any_size_alone; /* the only one a user has may have any size */
};

struct room_share {
    uid_t uid;
    unsigned n;
    uint64_t n_bytes;
};

struct room {
    struct room_limits limits;
    pthread_mutex_t lock; /* of all below */
    unsigned n;
    uint64_t n_bytes;
    size_t n_shares; /* of users who have any */
    struct room_share *shares;
};

/* What one that is open has of a room. Its owner lets one thread at a time change it. */
struct room_stay {
    struct room *room; /* NULL: it has none */
    uid_t uid;
    uint64_t n_bytes;
};

int room_init(struct room *room, const struct room_limits *limits); /* 0, -ENOMEM */
void room_done(struct room *room);                                  /* all zero allowed */

/* Any thread; each costs some steps for each user who has one open. */

/* One is opened, of no bytes. room is borrowed until room_leave().
 * Returns 0, -EMFILE (the user has too many), -ENFILE (all together have). */
int room_enter(struct room *room, uid_t uid, struct room_stay *ret_stay);

/* It has so many bytes now. Returns 0, -EDQUOT (too many of the user), -ENOSPC (of all together):
 * then it has what it had. Fewer bytes are always allowed. */
int room_hold(struct room_stay *stay, uint64_t n_bytes);

/* It is closed; all zero allowed, which it is afterwards. */
void room_leave(struct room_stay *stay);

#endif
