#include "fs/aside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct aside_user {
    TAILQ_ENTRY(aside_user) next;
    LIST_ENTRY(aside_user) same_bucket;
    uid_t uid;
    TAILQ_HEAD(, aside) asides; /* as they came */
};

void asides_init(struct asides *asides, struct user_room *threads, size_t max_bytes)
{
    *asides = (struct asides){.threads = threads};
    user_room_init(&asides->bytes, max_bytes);
    pthread_mutex_init(&asides->lock, NULL);
    TAILQ_INIT(&asides->users);
    TAILQ_INIT(&asides->by_age);
    for (size_t i = 0; i < ASIDE_BUCKETS; i++) {
        LIST_INIT(&asides->users_by_uid[i]);
        LIST_INIT(&asides->by_id[i]);
    }
}

/* -- under the lock -- */

static struct aside_user *find_or_add(struct asides *asides, uid_t uid)
{
    struct aside_user *user;
    LIST_FOREACH(user, &asides->users_by_uid[uid % ASIDE_BUCKETS], same_bucket)
    {
        if (user->uid == uid)
            return user;
    }
    user = malloc(sizeof(*user));
    if (!user)
        return NULL;
    *user = (struct aside_user){.uid = uid};
    TAILQ_INIT(&user->asides);
    TAILQ_INSERT_TAIL(&asides->users, user, next);
    LIST_INSERT_HEAD(&asides->users_by_uid[uid % ASIDE_BUCKETS], user, same_bucket);
    return user;
}

/* The kernel counts requests in twos. */
static size_t bucket_of(uint64_t id)
{
    return (id >> 1) % ASIDE_BUCKETS;
}

static void take_out(struct asides *asides, struct aside *aside)
{
    struct aside_user *user = TAKE_PTR(aside->user);
    TAILQ_REMOVE(&user->asides, aside, next);
    if (!aside->must)
        TAILQ_REMOVE(&asides->by_age, aside, next_put);
    LIST_REMOVE(aside, same_bucket);
    atomic_fetch_sub(&asides->n, 1);
    if (!TAILQ_EMPTY(&user->asides))
        return;
    TAILQ_REMOVE(&asides->users, user, next);
    LIST_REMOVE(user, same_bucket);
    free(user);
}

/* -- */

void asides_done(struct asides *asides)
{
    struct aside_user *user;
    while ((user = TAILQ_FIRST(&asides->users))) {
        struct aside *aside = TAILQ_FIRST(&user->asides);
        take_out(asides, aside);
        aside_free(asides, aside);
    }
    pthread_mutex_destroy(&asides->lock);
    user_room_done(&asides->bytes);
}

static struct aside *copy(struct asides *asides, uid_t uid, bool must, const void *request,
                          size_t n_bytes)
{
    size_t n_room = must ? 0 : sizeof(struct aside) + sizeof(struct aside_user) + n_bytes;
    if (!must && !user_room_enter(&asides->bytes, uid, n_room))
        return NULL;
    struct aside *aside = malloc(sizeof(*aside) + n_bytes);
    if (!aside) {
        if (!must)
            user_room_leave(&asides->bytes, uid, n_room);
        return NULL;
    }
    *aside = (struct aside){.uid = uid, .must = must, .n_bytes = n_bytes, .n_room = n_room};
    memcpy(aside->request, request, n_bytes);
    return aside;
}

void aside_free(struct asides *asides, struct aside *aside)
{
    if (!aside->must)
        user_room_leave(&asides->bytes, aside->uid, aside->n_room);
    free(aside);
}

/* As asides_put(); under the lock. */
static int keep(struct asides *asides, struct aside *aside)
{
    const struct aside_refused *refused = &asides->refused[aside->uid % ASIDE_BUCKETS];
    if (user_room_enter(asides->threads, aside->uid, 1))
        return 1;
    if (!aside->must && refused->uid == aside->uid && aside->put_ms < refused->end_ms)
        return -EAGAIN;
    aside->user = find_or_add(asides, aside->uid);
    if (!aside->user)
        return -ENOMEM;
    TAILQ_INSERT_TAIL(&aside->user->asides, aside, next);
    if (!aside->must)
        TAILQ_INSERT_TAIL(&asides->by_age, aside, next_put);
    LIST_INSERT_HEAD(&asides->by_id[bucket_of(aside->id)], aside, same_bucket);
    return 0;
}

int asides_put(struct asides *asides, uid_t uid, uint64_t id, bool must, const void *request,
               size_t n_bytes, int64_t now_ms)
{
    int r;
    struct aside *aside = copy(asides, uid, must, request, n_bytes);
    if (!aside)
        return -ENOMEM;
    aside->id = id;
    aside->put_ms = now_ms;
    {
        LOCKED(&asides->lock);
        /* Before the second try: a thread that is given back after that is seen to be. */
        atomic_fetch_add(&asides->n, 1);
        r = keep(asides, aside);
        if (r != 0)
            atomic_fetch_sub(&asides->n, 1);
    }
    if (r != 0)
        aside_free(asides, aside);
    return r;
}

struct aside *asides_take(struct asides *asides)
{
    struct aside_user *user;
    if (!atomic_load(&asides->n))
        return NULL;
    LOCKED(&asides->lock);
    TAILQ_FOREACH(user, &asides->users, next)
    {
        /* However many users there are: where the room is not full each of those that are refused
         * has some of the threads. */
        if (user_room_is_full(asides->threads))
            return NULL;
        if (user_room_enter(asides->threads, user->uid, 1))
            break;
    }
    if (!user)
        return NULL;
    struct aside *aside = TAILQ_FIRST(&user->asides);
    TAILQ_REMOVE(&asides->users, user, next);
    TAILQ_INSERT_TAIL(&asides->users, user, next);
    take_out(asides, aside);
    return aside;
}

int64_t asides_expiry_ms(struct asides *asides)
{
    if (!atomic_load(&asides->n))
        return 0;
    LOCKED(&asides->lock);
    const struct aside *oldest = TAILQ_FIRST(&asides->by_age);
    return oldest ? oldest->put_ms + ASIDE_MS : 0;
}

struct aside *asides_expire(struct asides *asides, int64_t now_ms)
{
    if (!atomic_load(&asides->n))
        return NULL;
    LOCKED(&asides->lock);
    struct aside *oldest = TAILQ_FIRST(&asides->by_age);
    if (!oldest || now_ms < oldest->put_ms + ASIDE_MS)
        return NULL;
    take_out(asides, oldest);
    asides->refused[oldest->uid % ASIDE_BUCKETS] =
        (struct aside_refused){.uid = oldest->uid, .end_ms = now_ms + ASIDE_MS};
    return oldest;
}

int asides_interrupt(struct asides *asides, uint64_t id)
{
    struct aside *aside;
    if (!atomic_load(&asides->n))
        return -ENOENT;
    {
        LOCKED(&asides->lock);
        LIST_FOREACH(aside, &asides->by_id[bucket_of(id)], same_bucket)
        {
            if (aside->id == id)
                break;
        }
        if (!aside)
            return -ENOENT;
        if (aside->must)
            return 0;
        take_out(asides, aside);
    }
    aside_free(asides, aside);
    return 1;
}
