/* Turns are taken by start-time fair queueing (Goyal, Vin, Cheng: Start-time Fair Queuing, SIGCOMM
 * 1996), with threads in place of a link and users in place of flows. Each user has a virtual time,
 * which goes on by the time that the user's tasks have held a thread; who is furthest behind is
 * next, with the task that has waited longest. A user who comes after a while begins where the one
 * of the others is who is furthest behind: time in which nothing was asked is not made up for. How
 * long a task takes is not known before, so that it is charged as it goes on. Besides a user who
 * has many is held back by having no more threads than are left for others: of eight the first one
 * has four, who comes next two, and two more one each.
 *
 * Two things of the paper are not here: weights, as all users are equal; and a heap, as the queue
 * is gone through in a few microseconds when it is full and is mostly empty.
 */
#include "fs/views/defer.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"

/* A thread that has nothing to do, as what waits is of users who have their share, looks this often
 * who of those gave up; where all have something, one that has ended a task does. */
enum { REAP_MS = 50 };

struct user {
    uid_t uid;
    int64_t virtual_us; /* of tasks that have ended */
    int64_t begun_us;   /* the sum of when those that run were begun */
    size_t n_waiting;
    unsigned n_running, n_long; /* threads; those with a long task */
};

struct place {
    void *task;
    struct user *user;
    int64_t begun_us;
    bool is_long;
};

struct defer {
    struct defer_options options;
    pthread_mutex_t lock; /* of all below; held for no call but given_up() and now_us() */
    pthread_cond_t pushed;
    bool ending, is_watched; /* a thread wakes up to reap */
    int64_t reaped_ms;       /* between two tasks, last */
    size_t n_waiting, n_users;
    unsigned n_running, n_long;
    size_t n_places;       /* n_waiting_max, and one for each thread */
    struct place *waiting; /* as they came */
    struct user *users;    /* n_places, for more cannot wait or run; each stays where it is */
    unsigned n_threads;
    pthread_t threads[];
};

static int64_t now_us(const struct defer *defer)
{
    return defer->options.now_us ? defer->options.now_us() : clock_now_us();
}

/* -- users -- */

static bool is_idle(const struct user *user)
{
    return !user->n_waiting && !user->n_running;
}

static struct user *find_user(const struct defer *defer, uid_t uid)
{
    for (size_t i = 0; i < defer->n_users; i++)
        if (defer->users[i].uid == uid)
            return &defer->users[i];
    return NULL;
}

/* The time that a user has had until a moment, with what runs. */
static int64_t virtual_us_at(const struct user *user, int64_t at_us)
{
    return user->virtual_us + user->n_running * at_us - user->begun_us;
}

/* The time of the one furthest behind who has something to do; 0 where nobody has. */
static int64_t virtual_now(const struct defer *defer)
{
    const int64_t at_us = now_us(defer);
    int64_t least_us = INT64_MAX;
    for (size_t i = 0; i < defer->n_users; i++) {
        const struct user *user = &defer->users[i];
        if (!is_idle(user) && virtual_us_at(user, at_us) < least_us)
            least_us = virtual_us_at(user, at_us);
    }
    return least_us == INT64_MAX ? 0 : least_us;
}

/* Room for another user: of one who has nothing to do, and would begin now as a new one does; else
 * at the end; where that is reached, of any who has nothing to do, as one must have. */
static struct user *find_room(struct defer *defer, int64_t now_us)
{
    struct user *oldest = NULL;
    for (size_t i = 0; i < defer->n_users; i++) {
        struct user *user = &defer->users[i];
        if (is_idle(user) && (!oldest || user->virtual_us < oldest->virtual_us))
            oldest = user;
    }
    if ((!oldest || oldest->virtual_us > now_us) && defer->n_users < defer->n_places)
        return &defer->users[defer->n_users++];
    assert(oldest);
    return oldest;
}

/* The user of a task that is about to wait. */
static struct user *enter_user(struct defer *defer, uid_t uid)
{
    struct user *user = find_user(defer, uid);
    if (user && !is_idle(user))
        return user;
    const int64_t now_us = virtual_now(defer);
    if (!user) {
        user = find_room(defer, now_us);
        *user = (struct user){.uid = uid};
    }
    if (user->virtual_us < now_us)
        user->virtual_us = now_us;
    return user;
}

/* -- the queue -- */

static uid_t uid_of(const struct defer *defer, void *task)
{
    return defer->options.user_of ? defer->options.user_of(task) : 0;
}

static void append(struct defer *defer, void *task)
{
    struct user *user = enter_user(defer, uid_of(defer, task));
    assert(defer->n_waiting < defer->n_places);
    defer->waiting[defer->n_waiting++] =
        (struct place){.task = task,
                       .user = user,
                       .is_long = defer->options.is_long && defer->options.is_long(task)};
    user->n_waiting++;
    pthread_cond_signal(&defer->pushed);
}

static struct place take_out(struct defer *defer, size_t i)
{
    struct place place = defer->waiting[i];
    defer->n_waiting--;
    place.user->n_waiting--;
    memmove(&defer->waiting[i], &defer->waiting[i + 1],
            (defer->n_waiting - i) * sizeof(defer->waiting[0]));
    return place;
}

/* A user who has so many may have another: as long as more than these are left. */
static bool leaves_some(unsigned n_of_user, unsigned n_taken, unsigned n_max)
{
    return n_taken < n_max && n_of_user < n_max - n_taken;
}

static bool may_run(const struct defer *defer, const struct place *place)
{
    const struct defer_options *options = &defer->options;
    return leaves_some(place->user->n_running, defer->n_running, options->n_threads) &&
           (!place->is_long ||
            leaves_some(place->user->n_long, defer->n_long, options->n_long_max));
}

/* Begin the task whose turn it is; false: there is none. */
static bool begin_next(struct defer *defer, struct place *ret_place)
{
    const int64_t at_us = now_us(defer);
    int64_t least_us = INT64_MAX;
    size_t next = SIZE_MAX;
    for (size_t i = 0; i < defer->n_waiting; i++) {
        const struct place *place = &defer->waiting[i];
        if (may_run(defer, place) && virtual_us_at(place->user, at_us) < least_us) {
            least_us = virtual_us_at(place->user, at_us);
            next = i;
        }
    }
    if (next == SIZE_MAX)
        return false;
    *ret_place = take_out(defer, next);
    ret_place->begun_us = at_us;
    ret_place->user->begun_us += at_us;
    ret_place->user->n_running++;
    ret_place->user->n_long += ret_place->is_long;
    defer->n_running++;
    defer->n_long += ret_place->is_long;
    return true;
}

static void end(struct defer *defer, const struct place *place)
{
    struct user *user = place->user;
    /* One that took no time had its turn as well. */
    user->virtual_us += now_us(defer) - place->begun_us + 1;
    user->begun_us -= place->begun_us;
    user->n_running--;
    user->n_long -= place->is_long;
    defer->n_running--;
    defer->n_long -= place->is_long;
    if (!defer->n_running && !defer->n_waiting)
        defer->n_users = 0; /* nobody is behind anybody */
}

/* -- threads -- */

static void wait_for_task(struct defer *defer)
{
    if (!defer->n_waiting || defer->is_watched) {
        pthread_cond_wait(&defer->pushed, &defer->lock);
        return;
    }
    const struct timespec until = deadline_after_ms(REAP_MS);
    defer->is_watched = true;
    pthread_cond_timedwait(&defer->pushed, &defer->lock, &until);
    defer->is_watched = false;
    pthread_mutex_unlock(&defer->lock);
    defer_reap(defer);
    pthread_mutex_lock(&defer->lock);
}

static void reap_between_tasks(struct defer *defer)
{
    const int64_t now_ms = clock_now_ms();
    if (!defer->n_waiting || now_ms < defer->reaped_ms + REAP_MS)
        return;
    defer->reaped_ms = now_ms;
    pthread_mutex_unlock(&defer->lock);
    defer_reap(defer);
    pthread_mutex_lock(&defer->lock);
}

static void *serve(void *user)
{
    struct defer *defer = user;
    LOCKED(&defer->lock);
    while (!defer->ending) {
        struct place place;
        if (!begin_next(defer, &place)) {
            wait_for_task(defer);
            continue;
        }
        /* The one that ended may have been in the way of more than one. */
        if (defer->n_waiting)
            pthread_cond_signal(&defer->pushed);
        pthread_mutex_unlock(&defer->lock);
        defer->options.run(place.task, 0);
        pthread_mutex_lock(&defer->lock);
        end(defer, &place);
        reap_between_tasks(defer);
    }
    return NULL;
}

int defer_new(const struct defer_options *options, struct defer **ret_defer)
{
    assert(options->n_threads && options->n_waiting_max && options->run);
    assert(options->n_long_max || !options->is_long);
    _cleanup_(defer_free_p) struct defer *defer =
        calloc(1, sizeof(*defer) + options->n_threads * sizeof(defer->threads[0]));
    if (!defer)
        return -ENOMEM;
    defer->options = *options;
    pthread_mutex_init(&defer->lock, NULL);
    thread_cond_init(&defer->pushed);
    defer->n_places = options->n_waiting_max + options->n_threads;
    defer->waiting = calloc(defer->n_places, sizeof(defer->waiting[0]));
    defer->users = calloc(defer->n_places, sizeof(defer->users[0]));
    if (!defer->waiting || !defer->users)
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
        defer->options.run(defer->waiting[i].task, -ESHUTDOWN);
    pthread_cond_destroy(&defer->pushed);
    pthread_mutex_destroy(&defer->lock);
    free(defer->waiting);
    free(defer->users);
    free(defer);
}

/* Takes out the newest task of the user who has the most, for one of a user who has fewer also with
 * it; NULL: nobody has so many. */
static void *make_room(struct defer *defer, uid_t uid)
{
    const struct user *user = find_user(defer, uid), *most = NULL;
    for (size_t i = 0; i < defer->n_users; i++)
        if (!most || defer->users[i].n_waiting > most->n_waiting)
            most = &defer->users[i];
    if ((user ? user->n_waiting : 0) + 1 >= most->n_waiting)
        return NULL;
    size_t newest = defer->n_waiting - 1;
    while (defer->waiting[newest].user != most)
        newest--;
    return take_out(defer, newest).task;
}

int defer_push(struct defer *defer, void *task)
{
    void *displaced = NULL;
    {
        LOCKED(&defer->lock);
        if (defer->ending)
            return -ESHUTDOWN;
        if (defer->n_waiting >= defer->options.n_waiting_max) {
            displaced = make_room(defer, uid_of(defer, task));
            if (!displaced)
                return -EAGAIN;
        }
        append(defer, task);
    }
    if (displaced)
        defer->options.run(displaced, -EAGAIN);
    return 0;
}

static void *take_given_up(struct defer *defer)
{
    LOCKED(&defer->lock);
    for (size_t i = 0; i < defer->n_waiting; i++)
        if (!may_run(defer, &defer->waiting[i]) && defer->options.given_up(defer->waiting[i].task))
            return take_out(defer, i).task;
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
