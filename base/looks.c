#include "base/looks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/thread.h"

struct share {
    uid_t owner;
    unsigned n;
};

struct looks {
    pthread_mutex_t lock; /* of all below, and of the states of looks */
    pthread_cond_t asked, over;
    bool ending;
    unsigned n_max, n_threads, n_resting;
    unsigned n; /* looks that wait or run: each has its thread, or one that is being started */
    size_t n_shares;
    struct share *shares; /* n_max, of owners who have any */
    STAILQ_HEAD(, look) waiting;
    STAILQ_HEAD(, look) left; /* nobody waits for them; until their owners have a thread */
    size_t n_left;
    pthread_t threads[];
};

/* -- what owners have -- */

static struct share *find_share(struct looks *looks, uid_t owner)
{
    for (size_t i = 0; i < looks->n_shares; i++)
        if (looks->shares[i].owner == owner)
            return &looks->shares[i];
    return NULL;
}

/* As many as are left for others: whether there is one. */
static bool enter(struct looks *looks, uid_t owner)
{
    struct share *share = find_share(looks, owner);
    if ((share ? share->n : 0) >= looks->n_max - looks->n)
        return false;
    if (!share) {
        share = &looks->shares[looks->n_shares++];
        *share = (struct share){.owner = owner};
    }
    share->n++;
    looks->n++;
    return true;
}

static void admit(struct looks *looks, struct look *look)
{
    STAILQ_INSERT_TAIL(&looks->waiting, look, next);
    pthread_cond_signal(&looks->asked);
}

/* Some at a time, in turns: who has thousands of them makes this no longer. */
static void admit_left(struct looks *looks)
{
    enum { AT_ONCE = 64 };
    struct look *look;
    for (int i = 0; i < AT_ONCE && (look = STAILQ_FIRST(&looks->left)); i++) {
        STAILQ_REMOVE_HEAD(&looks->left, next);
        if (!enter(looks, look->owner)) {
            STAILQ_INSERT_TAIL(&looks->left, look, next);
            continue;
        }
        looks->n_left--;
        admit(looks, look);
    }
}

static void leave(struct looks *looks, uid_t owner)
{
    struct share *share = find_share(looks, owner);
    looks->n--;
    if (--share->n == 0)
        *share = looks->shares[--looks->n_shares];
    admit_left(looks);
}

/* -- threads -- */

static void *run(void *user);

/* Called by threads that are themselves, and not somebody who asks: the new one is as they are. */
static void start_next(struct looks *looks)
{
    if (!looks->n_resting && looks->n_threads < looks->n_max && !looks->ending &&
        thread_start(&looks->threads[looks->n_threads], run, looks) == 0)
        looks->n_threads++;
}

/* With the lock, which is not held meanwhile: what it has open may have been removed by now, and
 * the last close of that takes as long as its owner has made it. */
static void end_given_up(struct looks *looks, struct look *look)
{
    const uid_t owner = look->owner;
    pthread_mutex_unlock(&looks->lock);
    look->free(look);
    pthread_mutex_lock(&looks->lock);
    leave(looks, owner);
}

/* With the lock, which is not held meanwhile. */
static void do_next(struct looks *looks)
{
    struct look *look = STAILQ_FIRST(&looks->waiting);
    STAILQ_REMOVE_HEAD(&looks->waiting, next);
    if (look->state == LOOK_WAITS)
        look->state = LOOK_RUNS;
    start_next(looks);
    pthread_mutex_unlock(&looks->lock);
    look->work(look);
    pthread_mutex_lock(&looks->lock);
    if (look->state == LOOK_GIVEN_UP) {
        end_given_up(looks, look);
        return;
    }
    leave(looks, look->owner);
    look->state = LOOK_OVER;
    pthread_cond_broadcast(&looks->over);
}

static void *run(void *user)
{
    struct looks *looks = user;
    LOCKED(&looks->lock);
    while (!looks->ending) {
        if (!STAILQ_EMPTY(&looks->waiting)) {
            do_next(looks);
            continue;
        }
        looks->n_resting++;
        pthread_cond_wait(&looks->asked, &looks->lock);
        looks->n_resting--;
    }
    return NULL;
}

int looks_new(unsigned n_max, struct looks **ret_looks)
{
    _cleanup_(looks_free_p) struct looks *looks =
        calloc(1, sizeof(*looks) + n_max * sizeof(looks->threads[0]));
    if (!looks)
        return -ENOMEM;
    looks->n_max = n_max;
    STAILQ_INIT(&looks->waiting);
    STAILQ_INIT(&looks->left);
    pthread_mutex_init(&looks->lock, NULL);
    thread_cond_init(&looks->asked);
    thread_cond_init(&looks->over);
    looks->shares = calloc(n_max, sizeof(looks->shares[0]));
    if (!looks->shares)
        return -ENOMEM;
    LOCKED(&looks->lock);
    start_next(looks);
    if (!looks->n_threads)
        return -EAGAIN;
    *ret_looks = TAKE_PTR(looks);
    return 0;
}

static void free_left(struct look *look)
{
    while (look) {
        struct look *next = STAILQ_NEXT(look, next);
        look->free(look);
        look = next;
    }
}

void looks_free(struct looks *looks)
{
    if (!looks)
        return;
    pthread_mutex_lock(&looks->lock);
    looks->ending = true;
    pthread_cond_broadcast(&looks->asked);
    pthread_mutex_unlock(&looks->lock);
    for (unsigned i = 0; i < looks->n_threads; i++)
        pthread_join(looks->threads[i], NULL);
    free_left(STAILQ_FIRST(&looks->waiting));
    free_left(STAILQ_FIRST(&looks->left));
    pthread_cond_destroy(&looks->over);
    pthread_cond_destroy(&looks->asked);
    pthread_mutex_destroy(&looks->lock);
    free(looks->shares);
    free(looks);
}

/* With the lock. Returns 0, or -ETIMEDOUT: the look is not the asker's any more. */
static int await(struct looks *looks, struct look *look, int wait_ms)
{
    const struct timespec until = deadline_after_ms(wait_ms);
    int r = 0;
    while (look->state != LOOK_OVER && r == 0)
        r = pthread_cond_timedwait(&looks->over, &looks->lock, &until);
    if (look->state == LOOK_OVER)
        return 0;
    if (look->state == LOOK_RUNS) {
        look->state = LOOK_GIVEN_UP;
    } else {
        STAILQ_REMOVE(&looks->waiting, look, look, next);
        leave(looks, look->owner);
        look->free(look);
    }
    return -ETIMEDOUT;
}

int looks_do_for(struct looking *looking, uid_t owner, struct look *look)
{
    struct looks *looks = looking ? looking->looks : NULL;
    if (!looks) {
        look->work(look);
        return 0;
    }
    LOCKED(&looks->lock);
    if (looking->left_us <= 0 || !enter(looks, owner)) {
        look->free(look);
        return -EAGAIN;
    }
    const int64_t begin_us = clock_now_us(), left_ms = looking->left_us / 1000;
    look->owner = owner;
    look->state = LOOK_WAITS;
    admit(looks, look);
    int r = await(looks, look, left_ms < LOOK_MS ? (int)left_ms : LOOK_MS);
    looking->left_us -= clock_now_us() - begin_us;
    return r;
}

/* False: too many are left already. */
static bool leave_to(struct looks *looks, uid_t owner, struct look *look)
{
    LOCKED(&looks->lock);
    look->owner = owner;
    look->state = LOOK_GIVEN_UP;
    if (enter(looks, owner)) {
        admit(looks, look);
        return true;
    }
    if (looks->n_left == LOOKS_LEFT_MAX)
        return false;
    STAILQ_INSERT_TAIL(&looks->left, look, next);
    looks->n_left++;
    return true;
}

void looks_leave(struct looks *looks, uid_t owner, struct look *look)
{
    if (!looks || !leave_to(looks, owner, look))
        look->free(look);
}

int looks_do(struct looking *looking, int dir_fd, struct look *look)
{
    struct statx sx = {0};
    if (looking && looking->looks &&
        statx(dir_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_UID, &sx) < 0) {
        const int r = -errno;
        look->free(look);
        return r;
    }
    return looks_do_for(looking, sx.stx_uid, look);
}
