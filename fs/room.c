#include "fs/room.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

int room_init(struct room *room, const struct room_limits *limits)
{
    /* No more users have one open than there are open. */
    struct room_share *shares = calloc(limits->n_max, sizeof(*shares));
    if (!shares)
        return -ENOMEM;
    *room = (struct room){.limits = *limits, .shares = shares};
    pthread_mutex_init(&room->lock, NULL);
    return 0;
}

void room_done(struct room *room)
{
    if (!room->shares)
        return;
    pthread_mutex_destroy(&room->lock);
    free(room->shares);
}

static struct room_share *find_share(struct room *room, uid_t uid)
{
    for (size_t i = 0; i < room->n_shares; i++)
        if (room->shares[i].uid == uid)
            return &room->shares[i];
    return NULL;
}

int room_enter(struct room *room, uid_t uid, struct room_stay *ret_stay)
{
    LOCKED(&room->lock);
    struct room_share *share = find_share(room, uid);
    if (share && share->n >= room->limits.n_of_a_user_max)
        return -EMFILE;
    if (room->n >= room->limits.n_max)
        return -ENFILE;
    if (!share) {
        share = &room->shares[room->n_shares++];
        *share = (struct room_share){.uid = uid};
    }
    share->n++;
    room->n++;
    *ret_stay = (struct room_stay){.room = room, .uid = uid};
    return 0;
}

static int check_growth(const struct room *room, const struct room_share *share, uint64_t n_bytes)
{
    if (room->limits.any_size_alone && share->n == 1)
        return 0;
    if (share->n_bytes + n_bytes > room->limits.bytes_of_a_user_max)
        return -EDQUOT;
    return room->n_bytes + n_bytes > room->limits.bytes_max ? -ENOSPC : 0;
}

int room_hold(struct room_stay *stay, uint64_t n_bytes)
{
    struct room *room = stay->room;
    LOCKED(&room->lock);
    struct room_share *share = find_share(room, stay->uid);
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

void room_leave(struct room_stay *stay)
{
    struct room *room = stay->room;
    if (!room)
        return;
    LOCKED(&room->lock);
    struct room_share *share = find_share(room, stay->uid);
    assert(share);
    share->n_bytes -= stay->n_bytes;
    room->n_bytes -= stay->n_bytes;
    room->n--;
    if (--share->n == 0)
        *share = room->shares[--room->n_shares];
    *stay = (struct room_stay){0};
}
