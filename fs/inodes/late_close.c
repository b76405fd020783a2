#include "fs/inodes/late_close.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/deadline.h"
#include "base/thread.h"

enum {
    GATHER_US = 1000, /* while there are any, they are taken this often: nobody has to wake us */
    RESTING_N = 20,   /* times without any, after which it sleeps */
};

struct late_fd {
    STAILQ_ENTRY(late_fd) next;
    int fd;
    uid_t owner; /* of the inode; once it is gathered */
    struct late_count count;
};

struct late_owner {
    LIST_ENTRY(late_owner) others;
    STAILQ_ENTRY(late_owner) next; /* while it waits for a thread */
    uid_t uid;
    struct late_fds fds;
};

/* The first version of the kernel's struct sched_attr; C libraries of today have it, under that
 * name, or not. */
struct scheduling {
    uint32_t size_bytes, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline_ns, period_ns;
};

/* Behind whoever is served, who is on one of our processors for some microseconds between two
 * requests: of two of one priority the one with the longer slice gives way at once. */
static void give_way(void)
{
    struct scheduling wanted = {.size_bytes = sizeof(wanted),
                                .policy = SCHED_OTHER,
                                .nice = 10,
                                .slice_ns = 50 * 1000 * 1000};
    syscall(SYS_sched_setattr, 0, &wanted, 0);
}

/* As it is known here: a server that does not answer is not asked. */
static int look_at(int fd, struct statx *ret_statx)
{
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK | STATX_UID, ret_statx);
}

static uid_t owner_of(int fd)
{
    struct statx sx;
    return look_at(fd, &sx) == 0 ? sx.stx_uid : USER_NOBODY;
}

static void count_less(const struct late_count *count)
{
    if (count->n)
        atomic_fetch_sub(count->n, 1);
    if (count->room)
        user_room_leave(count->room, count->payer, 1);
}

/* -- with the lock held -- */

static void count_closed(struct late_close *late, const struct late_count *count)
{
    if (!late->is_left)
        count_less(count);
}

static struct late_owner *find_owner(struct late_close *late, uid_t uid)
{
    struct late_owner *owner;
    LIST_FOREACH(owner, &late->owners[uid % LATE_CLOSE_BUCKETS], others)
    if (owner->uid == uid)
        return owner;
    owner = malloc(sizeof(*owner));
    if (!owner)
        return NULL;
    *owner = (struct late_owner){.uid = uid, .fds = STAILQ_HEAD_INITIALIZER(owner->fds)};
    LIST_INSERT_HEAD(&late->owners[uid % LATE_CLOSE_BUCKETS], owner, others);
    STAILQ_INSERT_TAIL(&late->waiting, owner, next);
    return owner;
}

/* Puts what has come to its owners; without memory it comes again. The lock is not held while they
 * are asked for. */
static void gather(struct late_close *late)
{
    struct late_fds come = STAILQ_HEAD_INITIALIZER(come);
    struct late_fd *fd;
    STAILQ_CONCAT(&come, &late->fds);
    pthread_mutex_unlock(&late->lock);
    STAILQ_FOREACH(fd, &come, next)
    fd->owner = owner_of(fd->fd);
    pthread_mutex_lock(&late->lock);
    while ((fd = STAILQ_FIRST(&come))) {
        struct late_owner *owner = find_owner(late, fd->owner);
        STAILQ_REMOVE_HEAD(&come, next);
        if (owner)
            STAILQ_INSERT_TAIL(&owner->fds, fd, next);
        else
            STAILQ_INSERT_TAIL(&late->fds, fd, next);
    }
}

/* Returns an owner who has something to be closed; NULL at the end. */
static struct late_owner *take_owner(struct late_close *late)
{
    unsigned n_rounds = 0;
    while (!late->ending) {
        struct late_owner *owner = STAILQ_FIRST(&late->waiting);
        if (owner) {
            STAILQ_REMOVE_HEAD(&late->waiting, next);
            return owner;
        }
        if (n_rounds++ < RESTING_N) {
            pthread_mutex_unlock(&late->lock);
            usleep(GATHER_US);
            pthread_mutex_lock(&late->lock);
        } else {
            late->sleeps = true;
            while (STAILQ_EMPTY(&late->fds) && !late->ending)
                pthread_cond_wait(&late->called, &late->lock);
            late->sleeps = false;
            n_rounds = 0;
        }
        gather(late);
    }
    return NULL;
}

/* The lock is not held while something is closed. Descriptors that come meanwhile are closed too:
 * it takes no other thread. */
static void close_all(struct late_close *late, struct late_owner *owner)
{
    struct late_fd *fd;
    while ((fd = STAILQ_FIRST(&owner->fds))) {
        STAILQ_REMOVE_HEAD(&owner->fds, next);
        pthread_mutex_unlock(&late->lock);
        late->close_fd(fd->fd);
        pthread_mutex_lock(&late->lock);
        count_closed(late, &fd->count);
        free(fd);
        if (--late->n_fds == 0)
            pthread_cond_signal(&late->emptied);
    }
    LIST_REMOVE(owner, others);
    free(owner);
}

static void *run(void *user);

static void start_one(struct late_close *late)
{
    if (late->n_threads < LATE_CLOSE_THREADS &&
        thread_start(&late->threads[late->n_threads], run, late) == 0)
        late->n_threads++;
}

/* Another thread gathers while this one may stand. */
static void call_another(struct late_close *late)
{
    if (late->n_resting)
        pthread_cond_signal(&late->gather_called);
    else
        start_one(late);
}

/* -- */

static void *run(void *user)
{
    struct late_close *late = user;
    give_way();
    LOCKED(&late->lock);
    while (!late->ending) {
        if (late->is_gathering) {
            late->n_resting++;
            pthread_cond_wait(&late->gather_called, &late->lock);
            late->n_resting--;
            continue;
        }
        late->is_gathering = true;
        struct late_owner *owner = take_owner(late);
        late->is_gathering = false;
        if (!owner)
            break;
        call_another(late);
        close_all(late, owner);
    }
    return NULL;
}

int late_close_new(struct late_close **ret_late)
{
    struct late_close *late = calloc(1, sizeof(*late));
    if (!late)
        return -ENOMEM;
    late->close_fd = close;
    pthread_mutex_init(&late->lock, NULL);
    pthread_cond_init(&late->called, NULL);
    pthread_cond_init(&late->gather_called, NULL);
    thread_cond_init(&late->emptied);
    STAILQ_INIT(&late->fds);
    STAILQ_INIT(&late->waiting);
    *ret_late = late;
    return 0;
}

/* Returns whether all were closed in time; else the threads are nobody's. */
static bool end(struct late_close *late, int wait_ms)
{
    const struct timespec until = deadline_after_ms(wait_ms);
    LOCKED(&late->lock);
    int r = 0;
    while (late->n_fds && r == 0)
        r = pthread_cond_timedwait(&late->emptied, &late->lock, &until);
    if (late->n_fds) {
        late->is_left = true;
        for (unsigned i = 0; i < late->n_threads; i++)
            pthread_detach(late->threads[i]);
        return false;
    }
    late->ending = true;
    pthread_cond_signal(&late->called);
    pthread_cond_broadcast(&late->gather_called);
    return true;
}

void late_close_free(struct late_close *late, int wait_ms)
{
    if (!late || !end(late, wait_ms))
        return;
    for (unsigned i = 0; i < late->n_threads; i++)
        pthread_join(late->threads[i], NULL);
    pthread_cond_destroy(&late->emptied);
    pthread_cond_destroy(&late->gather_called);
    pthread_cond_destroy(&late->called);
    pthread_mutex_destroy(&late->lock);
    free(late);
}

void late_close(struct late_close *late, int fd, struct late_count count)
{
    struct late_fd *new = malloc(sizeof(*new));
    {
        LOCKED(&late->lock);
        if (!late->n_threads)
            start_one(late);
        if (new && late->n_threads) {
            *new = (struct late_fd){.fd = fd, .count = count};
            STAILQ_INSERT_TAIL(&late->fds, new, next);
            late->n_fds++;
            if (late->sleeps)
                pthread_cond_signal(&late->called);
            return;
        }
    }
    free(new);
    late->close_fd(fd);
    LOCKED(&late->lock);
    count_closed(late, &count);
}

void late_close_removed(struct late_close *late, int fd, struct late_count count, bool is_last)
{
    struct statx sx;
    if (look_at(fd, &sx) < 0 || (!sx.stx_nlink && (is_last || sx.stx_uid == count.payer))) {
        late_close(late, fd, count);
        return;
    }
    close(fd);
    count_less(&count);
}
