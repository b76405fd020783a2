#include "fs/inodes/late_close.h"

#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"

enum {
    GATHER_US = 1000, /* while there are any, they are taken this often: nobody has to wake us */
    RESTING_N = 20,   /* times without any, after which it sleeps */
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

static void close_all(struct late_close *late)
{
    int fds[LATE_CLOSE_ROOM];
    size_t n_fds;
    {
        LOCKED(&late->lock);
        n_fds = late->n_fds;
        memcpy(fds, late->fds, n_fds * sizeof(fds[0]));
        late->n_fds = 0;
    }
    for (size_t i = 0; i < n_fds; i++)
        close(fds[i]);
}

/* Returns when there is something to close, false at the end. */
static bool wait_for_some(struct late_close *late)
{
    for (unsigned i = 0; i < RESTING_N; i++) {
        {
            LOCKED(&late->lock);
            if (late->n_fds || late->ending)
                return !late->ending;
        }
        usleep(GATHER_US);
    }
    LOCKED(&late->lock);
    late->sleeps = true;
    while (!late->n_fds && !late->ending)
        pthread_cond_wait(&late->called, &late->lock);
    late->sleeps = false;
    return !late->ending;
}

static void *run(void *user)
{
    struct late_close *late = user;
    give_way();
    while (wait_for_some(late)) {
        close_all(late);
        usleep(GATHER_US);
    }
    return NULL;
}

void late_close_init(struct late_close *late)
{
    *late = (struct late_close){0};
    pthread_mutex_init(&late->lock, NULL);
    pthread_cond_init(&late->called, NULL);
}

void late_close_done(struct late_close *late)
{
    {
        LOCKED(&late->lock);
        late->ending = true;
        pthread_cond_signal(&late->called);
    }
    if (late->started)
        pthread_join(late->thread, NULL);
    close_all(late);
    pthread_cond_destroy(&late->called);
    pthread_mutex_destroy(&late->lock);
}

/* With the lock held. */
static bool has_thread(struct late_close *late)
{
    if (late->started)
        return true;
    late->started = thread_start(&late->thread, run, late) == 0;
    return late->started;
}

void late_close(struct late_close *late, int fd)
{
    {
        LOCKED(&late->lock);
        if (late->n_fds < LATE_CLOSE_ROOM && has_thread(late)) {
            late->fds[late->n_fds++] = fd;
            if (late->sleeps)
                pthread_cond_signal(&late->called);
            return;
        }
    }
    close(fd);
}
