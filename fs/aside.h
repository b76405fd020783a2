/* Requests put aside: of users who have all threads that are theirs (user_room.h). They are kept as
 * they came, by user, until one of that user's threads is free; then users have turns.
 *
 * The kernel holds locks for a request that waits: of a directory that a name of is looked up, of a
 * page that is read, of an inode that is changed; and others may need those. So a request is kept
 * for ASIDE_MS and then refused, and of a user of whom one was refused no more are kept for as long
 * again: else as many as queue for a lock would each have it for that time, one after the other.
 *
 * A thread that waits in the kernel for the answer is the user's own, and costs more than a short
 * request here; a long one, of what is written, costs up to 1 MiB. So their bytes are shared out by
 * user as well.
 *
 * Any thread may call any of these. Where nothing is put aside asides_take() costs a look at a
 * counter; the others take a lock for some microseconds.
 */
#ifndef KINFS_FS_ASIDE_H
#define KINFS_FS_ASIDE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/queue.h>

#include "fs/inodes/user_room.h"

enum {
    ASIDE_BUCKETS = 1024,
    /* Longer than a disk that works lets hundreds of requests wait, and short enough for who waits
     * behind one of them not to give up. */
    ASIDE_MS = 2000,
};

struct aside_user;

struct aside {
    TAILQ_ENTRY(aside) next;     /* of the user's */
    TAILQ_ENTRY(aside) next_put; /* of those that may be refused */
    LIST_ENTRY(aside) same_bucket;
    struct aside_user *user; /* NULL: it was taken */
    uid_t uid;
    bool must; /* be answered as it asks */
    uint64_t id;
    int64_t put_ms;
    size_t n_bytes, n_room; /* of the request; what it has of the room for bytes */
    uint64_t request[];     /* aligned for any header */
};

struct asides {
    struct user_room *threads, bytes;
    pthread_mutex_t lock; /* of all below but n; only those of the rooms are taken under it */
    atomic_uint n;        /* never less than there are */
    TAILQ_HEAD(, aside_user) users; /* that have any; who had a turn least recently first */
    LIST_HEAD(, aside_user) users_by_uid[ASIDE_BUCKETS];
    LIST_HEAD(, aside) by_id[ASIDE_BUCKETS];
    TAILQ_HEAD(, aside) by_age; /* all but those that must be answered; the oldest first */
    /* The one who was refused last, of those who share a bucket, and until when that one is. */
    struct aside_refused {
        uid_t uid;
        int64_t end_ms;
    } refused[ASIDE_BUCKETS];
};

/* threads    the room that a request needs one of; borrowed
 * max_bytes  for requests and what keeping each takes; the first user may have half of it */
void asides_init(struct asides *asides, struct user_room *threads, size_t max_bytes);
void asides_done(struct asides *asides); /* frees what is still there */

/* Keep a copy of a request of a user who was refused a thread.
 *
 * id      by which it can be interrupted; no other that is kept has it
 * must    it ends something: it is never refused, nor interrupted
 * now_ms  as clock_now_ms() has it
 *
 * Returns 0; 1: one has become free, and the user has entered it; -EAGAIN: another of the user was
 * kept in vain; or -ENOMEM: no memory, or too many bytes of the user. Then nothing is kept. */
int asides_put(struct asides *asides, uid_t uid, uint64_t id, bool must, const void *request,
               size_t n_bytes, int64_t now_ms);

/* The next one whose user could enter a thread, which then is entered; NULL: none. To be given back
 * by aside_free() when it is answered. */
struct aside *asides_take(struct asides *asides);
void aside_free(struct asides *asides, struct aside *aside);

/* One that has been kept for long enough, and is not any more: it was not begun, and is to be
 * refused. NULL: none. To be given back by aside_free(). */
struct aside *asides_expire(struct asides *asides, int64_t now_ms);
/* When the next one will have been; 0: there is none. */
int64_t asides_expiry_ms(struct asides *asides);

/* The asker of a request waits no longer. Returns 1: it is not kept any more, and was not begun; 0:
 * it is kept nevertheless; -ENOENT: none with that id is kept. */
int asides_interrupt(struct asides *asides, uint64_t id);

#endif
