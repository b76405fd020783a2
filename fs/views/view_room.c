#include "fs/views/view_room.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

int view_room_init(struct view_room *room, const struct view_room_limits *limits)
{
    /* No more users have one open than there are open. */
    struct view_room_share *shares = calloc(limits->n_max, sizeof(*shares));
    if (!shares)
        return -ENOMEM;
    *room = (struct view_room){.limits = *limits, .shares = shares};
    pthread_mutex_init(&room->lock, NULL);
    return 0;
}

void view_room_done(struct view_room *room)
{
    if (!room->shares)
        return;
    pthread_mutex_destroy(&room->lock);
    free(room->shares);
}

static struct view_room_share *find_share(struct view_room *room, uid_t uid)
{
    for (size_t i = 0; i < room->n_shares; i++)
        if (room->shares[i].uid == uid)
            return &room->shares[i];
    return NULL;
}

int view_room_enter(struct view_room *room, uid_t uid, struct view_room_stay *ret_stay)
{
    LOCKED(&room->lock);
    struct view_room_share *share = find_share(room, uid);
    const unsigned n_own = (share ? share->n : 0) + 1;
    if (n_own > room->limits.n_of_a_user_max)
        return -EMFILE;
    if (room->n + 1 + n_own > room->limits.n_max)
        return -ENFILE;
    if (!share) {
        share = &room->shares[room->n_shares++];
        *share = (struct view_room_share){.uid = uid};
    }
    share->n++;
    room->n++;
    *ret_stay = (struct view_room_stay){.room = room, .uid = uid};
    return 0;
}

static int check_growth(const struct view_room *room, const struct view_room_share *share,
                        uint64_t n_bytes)
{
    if (room->limits.any_size_alone && share->n == 1)
        return 0;
    const uint64_t own = share->n_bytes + n_bytes, all = room->n_bytes + n_bytes;
    if (own > room->limits.bytes_of_a_user_max)
        return -EDQUOT;
    return all + own > room->limits.bytes_max ? -ENOSPC : 0;
}

int view_room_hold(struct view_room_stay *stay, uint64_t n_bytes)
{
    struct view_room *room = stay->room;
    LOCKED(&room->lock);
    struct view_room_share *share = find_share(room, stay->uid);
    assert(share);
    if (n_bytes > stay->n_bytes) {
        int r = check_growth(room, share, n_bytes - stay->n_bytes);
        if (r < 0)
            return r;
    }
    share->n_bytes += n_bytes - stay->n_bytes;
    room->n_bytes += n_bytes - stay->n_bytes;
    stay->n_bytes = n_bytes;
    return 0;
}

uint64_t view_room_wanted(const struct view_room_stay *stay)
{
    struct view_room *room = stay->room;
    LOCKED(&room->lock);
    const struct view_room_share *share = find_share(room, stay->uid);
    assert(share);
    return room->n_bytes + share->n_bytes;
}

void view_room_leave(struct view_room_stay *stay)
{
    struct view_room *room = stay->room;
    if (!room)
        return;
    LOCKED(&room->lock);
    struct view_room_share *share = find_share(room, stay->uid);
    assert(share);
    share->n_bytes -= stay->n_bytes;
    room->n_bytes -= stay->n_bytes;
    room->n--;
    if (--share->n == 0)
        *share = room->shares[--room->n_shares];
    *stay = (struct view_room_stay){0};
}
