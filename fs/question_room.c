#include "fs/question_room.h"

#include <errno.h>
#include <stddef.h>

void question_room_init(struct question_room *room)
{
    *room = (struct question_room){.n_questions = 0};
    pthread_mutex_init(&room->lock, NULL);
}

void question_room_done(struct question_room *room)
{
    pthread_mutex_destroy(&room->lock);
}

/* The user's; where there is none a free one, of which there are as many as questions. NULL: no
 * room at all. */
static struct question_share *share_of(struct question_room *room, uid_t uid)
{
    struct question_share *free_share = NULL;

    for (size_t i = 0; i < QUESTIONS_MAX; i++) {
        struct question_share *share = &room->shares[i];
        if (share->n_questions > 0 && share->uid == uid)
            return share;
        if (share->n_questions == 0 && !free_share)
            free_share = share;
    }
    return free_share;
}

int question_room_enter(struct question_room *room, uid_t uid)
{
    int r = -ENFILE;

    pthread_mutex_lock(&room->lock);
    struct question_share *share = share_of(room, uid);
    if (share && share->n_questions >= QUESTIONS_OF_A_USER_MAX)
        r = -EMFILE;
    else if (share && room->n_questions < QUESTIONS_MAX) {
        share->uid = uid;
        share->n_questions++;
        room->n_questions++;
        r = 0;
    }
    pthread_mutex_unlock(&room->lock);
    return r;
}

int question_room_take(struct question_room *room, uid_t uid, uint64_t n_bytes)
{
    int r = 0;

    pthread_mutex_lock(&room->lock);
    struct question_share *share = share_of(room, uid);
    if (share->n_bytes + n_bytes > QUESTION_BYTES_OF_A_USER_MAX)
        r = -EDQUOT;
    else if (room->n_bytes + n_bytes > QUESTION_BYTES_MAX)
        r = -ENOSPC;
    else {
        share->n_bytes += n_bytes;
        room->n_bytes += n_bytes;
    }
    pthread_mutex_unlock(&room->lock);
    return r;
}

void question_room_give_back(struct question_room *room, uid_t uid, uint64_t n_bytes)
{
    pthread_mutex_lock(&room->lock);
    share_of(room, uid)->n_bytes -= n_bytes;
    room->n_bytes -= n_bytes;
    pthread_mutex_unlock(&room->lock);
}

void question_room_leave(struct question_room *room, uid_t uid, uint64_t n_bytes)
{
    pthread_mutex_lock(&room->lock);
    struct question_share *share = share_of(room, uid);
    share->n_bytes -= n_bytes;
    share->n_questions--;
    room->n_bytes -= n_bytes;
    room->n_questions--;
    pthread_mutex_unlock(&room->lock);
}
