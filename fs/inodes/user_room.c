#include "fs/inodes/user_room.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fs/callers/thread_groups.h"

/* The share of a user who has some. */
struct user_share {
    struct user_share *next;
    uid_t uid;
    size_t n_taken;
};

void user_room_init(struct user_room *room, size_t n_max)
{
    *room = (struct user_room){.own_uid = geteuid(), .n_max = n_max};
    pthread_mutex_init(&room->lock, NULL);
}

void user_room_done(struct user_room *room)
{
    for (size_t i = 0; i < USER_ROOM_BUCKETS; i++) {
        for (struct user_share *share = room->buckets[i], *next; share; share = next) {
            next = share->next;
            free(share);
        }
    }
    pthread_mutex_destroy(&room->lock);
}

static bool is_counted(const struct user_room *room, uid_t uid)
{
    return uid == 0 || (uid != room->own_uid && uid != USER_NOBODY);
}

/* The place of the user's share, or of the one to be made. */
static struct user_share **find(struct user_room *room, uid_t uid)
{
    struct user_share **link = &room->buckets[uid % USER_ROOM_BUCKETS];
    while (*link && (*link)->uid != uid)
        link = &(*link)->next;
    return link;
}

static bool root_has_its_part(struct user_room *room)
{
    LOCKED(&room->lock);
    const struct user_share *share = *find(room, 0);
    return share && share->n_taken >= room->n_max / USER_ROOM_ROOTS_PART;
}

uid_t user_room_payer(struct user_room *room, uid_t uid, pid_t thread)
{
    if (uid != 0 || !root_has_its_part(room))
        return uid;
    return thread_real_uid(thread, &uid) < 0 ? USER_UNKNOWN : uid;
}

bool user_room_enter(struct user_room *room, uid_t uid, size_t n)
{
    if (!is_counted(room, uid))
        return true;
    LOCKED(&room->lock);
    struct user_share **link = find(room, uid);
    size_t n_own = (*link ? (*link)->n_taken : 0) + n, n_all = room->n_taken + n;
    if (n_all > room->n_max || n_own > room->n_max - n_all)
        return false;
    if (!*link) {
        *link = malloc(sizeof(**link));
        if (!*link)
            return false;
        **link = (struct user_share){.uid = uid};
    }
    (*link)->n_taken = n_own;
    room->n_taken = n_all;
    return true;
}

void user_room_leave(struct user_room *room, uid_t uid, size_t n)
{
    if (!is_counted(room, uid))
        return;
    LOCKED(&room->lock);
    struct user_share **link = find(room, uid), *share = *link;
    assert(share && share->n_taken >= n);
    room->n_taken -= n;
    share->n_taken -= n;
    if (share->n_taken)
        return;
    *link = share->next;
    free(share);
}

bool user_room_is_full(struct user_room *room)
{
    LOCKED(&room->lock);
    return room->n_taken + 2 > room->n_max; /* as user_room_enter() has it of the first one */
}
