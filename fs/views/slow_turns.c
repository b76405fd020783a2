#include "fs/views/slow_turns.h"

#include <stdlib.h>

#include "base/cleanup.h"

struct slow_user {
    struct slow_user *next; /* in its bucket */
    uid_t uid;
    uint64_t thread;            /* that took the turn last, */
    int64_t end_ms;             /* and until when it has it */
    int64_t taken_ms, as_of_ms; /* by the others; as_of_ms: then, and what they took until then */
};

void slow_turns_init(struct slow_turns *turns)
{
    *turns = (struct slow_turns){0};
    pthread_mutex_init(&turns->lock, NULL);
}

void slow_turns_done(struct slow_turns *turns)
{
    for (size_t i = 0; i < SLOW_TURNS_BUCKETS; i++) {
        for (struct slow_user *user = turns->buckets[i], *next; user; user = next) {
            next = user->next;
            free(user);
        }
    }
    pthread_mutex_destroy(&turns->lock);
}

/* -- with the lock held -- */

static int64_t taken_at(const struct slow_user *user, int64_t now_ms)
{
    const int64_t back_ms = (now_ms - user->as_of_ms) / SLOW_AGAIN;
    return user->taken_ms > back_ms ? user->taken_ms - back_ms : 0;
}

/* The user, or NULL. Others in the bucket of whom there is nothing to know any more go. */
static struct slow_user *find(struct slow_turns *turns, uid_t uid, int64_t now_ms)
{
    struct slow_user **link = &turns->buckets[uid % SLOW_TURNS_BUCKETS], *found = NULL, *user;
    while ((user = *link)) {
        if (user->uid == uid) {
            found = user;
        } else if (user->end_ms <= now_ms && !taken_at(user, now_ms)) {
            *link = user->next;
            free(user);
            continue;
        }
        link = &user->next;
    }
    return found;
}

static struct slow_user *find_or_add(struct slow_turns *turns, uid_t uid, int64_t now_ms)
{
    struct slow_user *user = find(turns, uid, now_ms);
    if (user || !(user = malloc(sizeof(*user))))
        return user;
    struct slow_user **bucket = &turns->buckets[uid % SLOW_TURNS_BUCKETS];
    *user = (struct slow_user){.next = *bucket, .uid = uid, .as_of_ms = now_ms};
    return *bucket = user;
}

static bool may_take(const struct slow_user *user, uint64_t thread, int64_t now_ms)
{
    return user->thread == thread || now_ms >= user->end_ms;
}

/* -- -- */

bool slow_turns_take(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t now_ms)
{
    LOCKED(&turns->lock);
    struct slow_user *user = find_or_add(turns, uid, now_ms);
    if (!user || !may_take(user, thread, now_ms))
        return false;
    user->thread = thread;
    user->end_ms = now_ms + SLOW_TURN_MS;
    return true;
}

int64_t slow_turns_allowed_ms(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t most_ms,
                              int64_t now_ms)
{
    LOCKED(&turns->lock);
    const struct slow_user *user = find(turns, uid, now_ms);
    if (!user || may_take(user, thread, now_ms))
        return most_ms;
    const int64_t allowed_ms = most_ms - taken_at(user, now_ms) / SLOW_PART;
    return allowed_ms < SLOW_MS ? SLOW_MS : allowed_ms;
}

void slow_turns_end(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t most_ms,
                    int64_t since_ms, int64_t now_ms)
{
    LOCKED(&turns->lock);
    struct slow_user *user = now_ms - since_ms < SLOW_MS ? NULL : find_or_add(turns, uid, now_ms);
    if (!user || (user->thread == thread && now_ms < user->end_ms))
        return;
    const int64_t from_ms = since_ms > user->as_of_ms ? since_ms : user->as_of_ms;
    const int64_t taken_ms = taken_at(user, now_ms) + now_ms - from_ms;
    user->taken_ms = taken_ms < SLOW_PART * most_ms ? taken_ms : SLOW_PART * most_ms;
    user->as_of_ms = now_ms;
}
