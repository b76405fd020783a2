/* The room of the views bounds how much of one kind (questions, listings) each user, and all
 * together, have open of them: the disks, memory and descriptors that the daemon keeps them in are
 * not the user's, and others want room too. A user may have as many as are left then, as in
 * user_room.h, which is of all users that there are; unlike there, bounds for each user come before
 * that, in bytes too, and everybody is counted.
 */
#ifndef KINFS_FS_VIEWS_VIEW_ROOM_H
#define KINFS_FS_VIEWS_VIEW_ROOM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct view_room_limits {
    unsigned n_max, n_of_a_user_max; /* open ones */
    uint64_t bytes_max, bytes_of_a_user_max;
    bool any_size_alone; /* the only one a user has may have any size */
};

struct view_room_share {
    uid_t uid;
    unsigned n;
    uint64_t n_bytes;
};

struct view_room {
    struct view_room_limits limits;
    pthread_mutex_t lock; /* of all below */
    unsigned n;
    uint64_t n_bytes;
    size_t n_shares; /* of users who have any */
    struct view_room_share *shares;
};

/* The part of a room that one open question or listing has. Its owner lets one thread at a time
 * change it. */
struct view_room_stay {
    struct view_room *room; /* NULL: it has none */
    uid_t uid;
    uint64_t n_bytes;
};

int view_room_init(struct view_room *room, const struct view_room_limits *limits); /* 0, -ENOMEM */
void view_room_done(struct view_room *room); /* all zero allowed */

/* Any thread; each costs some steps for each user who has one open. */

/* One is opened, of no bytes. room is borrowed until view_room_leave().
 * Returns 0, -EMFILE (the user has too many), -ENFILE (no more are left than that). */
int view_room_enter(struct view_room *room, uid_t uid, struct view_room_stay *ret_stay);

/* It has so many bytes now. Returns 0, -EDQUOT (too many of the user), -ENOSPC (less would be
 * left): then it has what it had. Fewer bytes are always allowed. */
int view_room_hold(struct view_room_stay *stay, uint64_t n_bytes);

/* The bytes that all have, and those that the user has once more, for others want as many. */
uint64_t view_room_wanted(const struct view_room_stay *stay);

/* It is closed; all zero allowed, which it is afterwards. */
void view_room_leave(struct view_room_stay *stay);

#endif
