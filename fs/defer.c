#include "fs/defer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

#include "base/thread.h"

struct defer {
    struct defer_options options;
    pthread_mutex_t lock; /* of all below; held for no call but given_up() */
    pthread_cond_t pushed;
    bool ending;
    size_t head, n_waiting; /* a ring of so many places: n_waiting_max, and one for each thread */
    size_t n_places;
    void **waiting;
    unsigned n_threads;
    pthread_t threads[];
};

static void **place(struct defer *defer, size_t i)
{
    return &defer->waiting[(defer->head + i) % defer->n_places];
}

static void *serve(void *user)
{
    struct defer *defer = user;
    for (;;) {
        pthread_mutex_lock(&defer->lock);
        while (!defer->n_waiting && !defer->ending)
            pthread_cond_wait(&defer->pushed, &defer->lock);
        if (defer->ending) {
            pthread_mutex_unlock(&defer->lock);
            return NULL;
        }
        void *task = *place(defer, 0);
        defer->head = (defer->head + 1) % defer->n_places;
        defer->n_waiting--;
        pthread_mutex_unlock(&defer->lock);
        defer->options.run(task, 0);
    }
}

int defer_new(const struct defer_options *options, struct defer **ret_defer)
{
    assert(options->n_threads && options->n_waiting_max && options->run);
    _cleanup_(defer_free_p) struct defer *defer =
        calloc(1, sizeof(*defer) + options->n_threads * sizeof(defer->threads[0]));
    if (!defer)
        return -ENOMEM;
    defer->options = *options;
    pthread_mutex_init(&defer->lock, NULL);
    pthread_cond_init(&defer->pushed, NULL);
    defer->n_places = options->n_waiting_max + options->n_threads;
    defer->waiting = calloc(defer->n_places, sizeof(defer->waiting[0]));
    if (!defer->waiting)
        return -ENOMEM;

    while (defer->n_threads < options->n_threads) {
        int r = thread_start(&defer->threads[defer->n_threads], serve, defer);
        if (r < 0)
            return r;
        defer->n_threads++;
    }
    *ret_defer = TAKE_PTR(defer);
    return 0;
}

void defer_free(struct defer *defer)
{
    if (!defer)
        return;
    pthread_mutex_lock(&defer->lock);
    defer->ending = true;
    pthread_cond_broadcast(&defer->pushed);
    pthread_mutex_unlock(&defer->lock);
    for (unsigned i = 0; i < defer->n_threads; i++)
        pthread_join(defer->threads[i], NULL);
    for (size_t i = 0; i < defer->n_waiting; i++)
        defer->options.run(*place(defer, i), -ESHUTDOWN);
    pthread_cond_destroy(&defer->pushed);
    pthread_mutex_destroy(&defer->lock);
    free(defer->waiting);
    free(defer);
}

int defer_push(struct defer *defer, void *task)
{
    LOCKED(&defer->lock);
    if (defer->ending)
        return -ESHUTDOWN;
    if (defer->n_waiting >= defer->options.n_waiting_max)
        return -EAGAIN;
    *place(defer, defer->n_waiting++) = task;
    pthread_cond_signal(&defer->pushed);
    return 0;
}

int defer_again(struct defer *defer, void *task)
{
    LOCKED(&defer->lock);
    if (defer->ending)
        return -ESHUTDOWN;
    assert(defer->n_waiting < defer->n_places);
    *place(defer, defer->n_waiting++) = task;
    pthread_cond_signal(&defer->pushed);
    return 0;
}

static void *take_given_up(struct defer *defer)
{
    LOCKED(&defer->lock);
    for (size_t i = 0; i < defer->n_waiting; i++) {
        void *task = *place(defer, i);
        if (!defer->options.given_up(task))
            continue;
        for (size_t j = i + 1; j < defer->n_waiting; j++)
            *place(defer, j - 1) = *place(defer, j);
        defer->n_waiting--;
        return task;
    }
    return NULL;
}

void defer_reap(struct defer *defer)
{
    void *task;
    while (defer->options.given_up && (task = take_given_up(defer)))
        defer->options.run(task, -EINTR);
}

bool defer_is_ending(struct defer *defer)
{
    LOCKED(&defer->lock);
    return defer->ending;
}
