#include "fs/watch/watch_post.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"

/* The next batch, or NULL after so many milliseconds. */
static struct watch_batch *take(struct watch_post *post, int wait_ms)
{
    struct timespec end = deadline_after_ms(wait_ms < 0 ? 0 : wait_ms);
    LOCKED(&post->lock);
    post->working = false;
    while (!post->n_waiting && !post->ending) {
        if (wait_ms < 0)
            pthread_cond_wait(&post->pushed, &post->lock);
        else if (pthread_cond_timedwait(&post->pushed, &post->lock, &end) == ETIMEDOUT)
            break;
    }
    if (!post->n_waiting || post->ending)
        return NULL;
    struct watch_batch *batch = post->waiting[0];
    post->working = true;
    memmove(post->waiting, post->waiting + 1, --post->n_waiting * sizeof(post->waiting[0]));
    return batch;
}

static void *serve(void *user)
{
    struct watch_post *post = user;
    int wait_ms = -1;
    while (!post->ending) {
        _cleanup_(watch_batch_unref_p) struct watch_batch *batch = take(post, wait_ms);
        if (post->ending)
            break;
        wait_ms = post->work(post->user, batch);
        post->busy_since_ms = 0;
    }
    LOCKED(&post->lock);
    post->ended = true;
    pthread_cond_signal(&post->pushed);
    return NULL;
}

bool watch_post_step(struct watch_post *post)
{
    post->busy_since_ms = clock_now_ms();
    return !post->ending;
}

int watch_post_start(struct watch_post *post, int (*work)(void *, struct watch_batch *), void *user)
{
    post->work = work;
    post->user = user;
    pthread_mutex_init(&post->lock, NULL);
    thread_cond_init(&post->pushed);
    int r = thread_start(&post->thread, serve, post);
    post->started = r == 0;
    return r;
}

bool watch_post_push(struct watch_post *post, struct watch_batch *batch)
{
    LOCKED(&post->lock);
    size_t n_seen = batch->n_seen;
    for (size_t i = 0; i < post->n_waiting; i++)
        n_seen += post->waiting[i]->n_seen;
    if (post->n_waiting == WATCH_POST_ROOM || (post->n_waiting && n_seen > WATCH_POST_SEEN_MAX))
        return false;
    post->waiting[post->n_waiting++] = watch_batch_ref(batch);
    pthread_cond_signal(&post->pushed);
    return true;
}

bool watch_post_is_waiting(struct watch_post *post)
{
    LOCKED(&post->lock);
    return post->n_waiting > 0;
}

bool watch_post_is_idle(struct watch_post *post)
{
    LOCKED(&post->lock);
    return post->n_waiting == 0 && !post->working;
}

void watch_post_clear(struct watch_post *post)
{
    LOCKED(&post->lock);
    while (post->n_waiting)
        watch_batch_unref(post->waiting[--post->n_waiting]);
}

bool watch_post_end(struct watch_post *post, int wait_ms)
{
    if (!post->started)
        return true;
    const struct timespec end = deadline_after_ms(wait_ms < 0 ? 0 : wait_ms);
    {
        LOCKED(&post->lock);
        post->ending = true;
        pthread_cond_signal(&post->pushed);
        while (wait_ms >= 0 && !post->ended)
            if (pthread_cond_timedwait(&post->pushed, &post->lock, &end) == ETIMEDOUT)
                break;
        if (wait_ms >= 0 && !post->ended)
            return false;
    }
    pthread_join(post->thread, NULL);
    post->started = false;
    watch_post_clear(post);
    return true;
}
