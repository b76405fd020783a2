#include "fs/views/slow_turns.h"

#include "base/cleanup.h"

void slow_turns_init(struct slow_turns *turns)
{
    *turns = (struct slow_turns){0};
    pthread_mutex_init(&turns->lock, NULL);
}

void slow_turns_done(struct slow_turns *turns)
{
    pthread_mutex_destroy(&turns->lock);
}

bool slow_turns_take(struct slow_turns *turns, uid_t uid, uint64_t thread, int64_t now_ms)
{
    struct slow_turn *turn = &turns->turns[uid % SLOW_TURNS_BUCKETS];
    LOCKED(&turns->lock);
    if (turn->uid == uid && turn->thread != thread && now_ms < turn->end_ms)
        return false;
    *turn = (struct slow_turn){.uid = uid, .thread = thread, .end_ms = now_ms + SLOW_TURN_MS};
    return true;
}
