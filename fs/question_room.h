/* How much the open questions (view_question.h) of each user, and of all together, take: they are
 * kept beside the store and with descriptors of the daemon's, where a user could otherwise fill a
 * disk, or leave the mount without descriptors, that are not theirs. */
#ifndef KINFS_FS_QUESTION_ROOM_H
#define KINFS_FS_QUESTION_ROOM_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

enum { QUESTIONS_MAX = 256, QUESTIONS_OF_A_USER_MAX = 64 };
/* Two documents of the largest size. What is written counts, also where it was written before. */
#define QUESTION_BYTES_OF_A_USER_MAX ((uint64_t)2 << 30)
#define QUESTION_BYTES_MAX ((uint64_t)8 << 30)

struct question_share {
    uid_t uid;
    unsigned n_questions; /* 0: free */
    uint64_t n_bytes;
};

struct question_room {
    pthread_mutex_t lock;
    unsigned n_questions;
    uint64_t n_bytes;
    struct question_share shares[QUESTIONS_MAX];
};

void question_room_init(struct question_room *room);
void question_room_done(struct question_room *room);

/* Any thread; each bounded by QUESTIONS_MAX steps. */

/* A question is opened: 0, -EMFILE (the user has too many), -ENFILE (all together have). */
int question_room_enter(struct question_room *room, uid_t uid);
/* It grows by n_bytes: 0, -EDQUOT (of the user), -ENOSPC (of all together); then it does not. */
int question_room_take(struct question_room *room, uid_t uid, uint64_t n_bytes);
void question_room_give_back(struct question_room *room, uid_t uid, uint64_t n_bytes);
/* It is closed, with what it had grown by. */
void question_room_leave(struct question_room *room, uid_t uid, uint64_t n_bytes);

#endif
