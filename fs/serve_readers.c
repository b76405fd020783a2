/* A thread that asks waits until a thread of ours has been woken, and to be woken itself. The first
 * can go: a thread that looks for the next request for some microseconds before it sleeps is awake
 * when the request comes. But the kernel wakes one of those that sleep in read(2), if there is one.
 * So but one thread reads; it answers what it read, while nobody reads, and reads again.
 *
 * Whoever answers may have to wait, for a disk or worse. Nobody else may wait for that:
 *
 *   what is known to take its time      another reader is called first
 *   what takes longer than most         the monitor, which looks every half millisecond while
 *                                       requests come quickly, calls another
 *   when that is so of many requests    for a while threads are not parked any more but all read
 *   requests come faster than answered  one reader more, where there are processors for it
 *
 * When requests do not follow each other quickly, there always is a second reader, and the monitor
 * sleeps.
 */
#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "fs/serve_private.h"

enum {
    QUICK_US = 1000, /* requests follow each other quickly: this many, so soon */
    QUICK_N = 8,
    LOOK_US = 80, /* how long to look for the next request; only after so many came in that time */
    LOOK_N = 4,
    PREEMPTED_US = 50, /* between two looks: somebody else wants the processor */

    TICK_US = 500,   /* of the monitor */
    RESTING_N = 20,  /* ticks without a request, after which it sleeps */
    UNREAD_US = 200, /* for longer nobody may be reading */

    SLOW_US = 150, /* an answer that took longer is slow; when it is one of eight, all read */
    SLOW_WEIGHT = 8,
    SLOW_MANY = 32,
    WIDE_US = 10000, /* how long more than one read after there was a reason */
};

/* -- who reads; with the lock held -- */

static int add_worker(struct server *server)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->server = server;
    int r = thread_start(&worker->thread, serve_work, worker);
    if (r < 0) {
        free(worker);
        return r;
    }
    LIST_INSERT_HEAD(&server->workers, worker, others);
    server->n_workers++;
    server->n_reading++;
    return 0;
}

static bool has_reader_or_none_left(const struct server *server)
{
    return server->n_reading ||
           (server->n_called == server->n_parked && server->n_workers == SERVE_MOST_THREADS);
}

/* Without memory for a thread, the monitor tries again. */
static void call_reader(struct server *server)
{
    if (has_reader_or_none_left(server) || server->ending)
        return;
    if (server->n_called < server->n_parked) {
        server->n_called++;
        server->n_reading++;
        pthread_cond_signal(&server->reader_called);
    } else {
        add_worker(server);
    }
}

static void want_threads(struct server *server, unsigned n_wanted, int64_t at_us)
{
    if (n_wanted >= server->n_wanted) {
        server->n_wanted = n_wanted;
        server->wanted_since_us = at_us;
    }
}

/* The number of threads that are to read or answer, the others parked. */
static unsigned wanted_threads(struct server *server, int64_t at_us)
{
    if (server->n_quick < QUICK_N)
        return SERVE_MOST_THREADS;
    if (at_us - server->wanted_since_us > WIDE_US)
        server->n_wanted = 1;
    return server->n_wanted;
}

/* after_others: who has been called already is another. */
static void wait_to_be_called(struct server *server, bool after_others)
{
    server->n_parked++;
    if (after_others && !server->ending)
        pthread_cond_wait(&server->reader_called, &server->lock);
    while (!server->n_called && !server->ending)
        pthread_cond_wait(&server->reader_called, &server->lock);
    server->n_parked--;
    if (server->n_called)
        server->n_called--; /* counted by who called */
    else
        server->n_reading++;
}

/* A worker has answered. Returns when it is to read. */
static void park(struct server *server, int64_t at_us)
{
    unsigned n_at_work = server->n_workers - server->n_parked + server->n_called;
    if (server->n_reading && n_at_work > wanted_threads(server, at_us))
        wait_to_be_called(server, false);
    else
        server->n_reading++;
}

/* A worker that was to read has no memory to read into. Another one has, or the monitor calls this
 * one again. */
void serve_let_another_read(struct server *server)
{
    LOCKED(&server->lock);
    server->n_reading--;
    if (server->n_called < server->n_parked)
        call_reader(server);
    if (!server->n_reading && server->monitor_sleeps)
        pthread_cond_signal(&server->monitor_called);
    wait_to_be_called(server, true);
}

/* -- before and behind a request -- */

static bool takes_time(const struct fuse_in_header *in)
{
    switch (in->opcode) {
    case FUSE_READ:
    case FUSE_WRITE:
    case FUSE_FSYNC:
    case FUSE_FSYNCDIR:
    case FUSE_SYNCFS:
    case FUSE_FALLOCATE:
    case FUSE_COPY_FILE_RANGE:
    case FUSE_IOCTL:
    case FUSE_LSEEK: return true;
    default: return false;
    }
}

bool serve_is_more_waiting(const struct server *server)
{
    struct pollfd device = {.fd = fuse_session_fd(server->session), .events = POLLIN};
    return poll(&device, 1, 0) > 0;
}

static bool wants_another_reader(struct server *server, const struct fuse_in_header *in,
                                 int64_t at_us)
{
    unsigned n_at_work = server->n_workers - server->n_parked;
    if (in->opcode == FUSE_FORGET || in->opcode == FUSE_BATCH_FORGET)
        return false; /* they come in thousands, and are nothing */
    return takes_time(in) || n_at_work < wanted_threads(server, at_us);
}

void serve_begin_request(struct worker *worker, bool more, int64_t at_us)
{
    struct server *server = worker->server;
    const struct fuse_in_header *in = worker->request.mem;
    LOCKED(&server->lock);
    if (at_us - server->answered_us > QUICK_US)
        server->n_quick = 0;
    else if (server->n_quick < QUICK_N)
        server->n_quick++;
    if (worker->looks && at_us - worker->answered_us > LOOK_US)
        server->n_found = 0;
    else if (worker->looks && server->n_found < LOOK_N)
        server->n_found++;
    server->n_requests++;
    server->n_reading--;
    if (more && server->n_wanted < server->most_readers)
        want_threads(server, server->n_wanted + 1, at_us);
    if (server->n_reading)
        return;
    server->read_us = at_us;
    if (wants_another_reader(server, in, at_us))
        call_reader(server);
    if (!server->n_reading && server->monitor_sleeps)
        pthread_cond_signal(&server->monitor_called);
}

void serve_end_request(struct worker *worker, int64_t begun_us)
{
    struct server *server = worker->server;
    const struct fuse_in_header *in = worker->request.mem;
    int64_t at_us = clock_now_us();
    LOCKED(&server->lock);
    server->answered_us = worker->answered_us = at_us;
    if (at_us - begun_us > SLOW_US && !takes_time(in))
        server->slowness += server->slowness < SLOW_MANY ? SLOW_WEIGHT : 0;
    else if (server->slowness)
        server->slowness--;
    if (server->slowness >= SLOW_MANY)
        want_threads(server, SERVE_MOST_THREADS, at_us);
    park(server, at_us);
    worker->looks = server->may_look && server->n_reading == 1;
}

/* Until there is a request, or it does not seem that there will soon be one. */
void serve_look(struct worker *worker)
{
    struct server *server = worker->server;
    int64_t last_us = worker->answered_us, at_us;
    {
        LOCKED(&server->lock);
        if (server->n_found < LOOK_N)
            return;
    }
    while (!serve_is_more_waiting(server)) {
        at_us = clock_now_us();
        if (at_us - last_us > PREEMPTED_US || at_us - worker->answered_us > LOOK_US)
            return;
        last_us = at_us;
    }
}

/* -- the monitor, and all of them -- */

/* Until it is called, or something that was put aside is to be refused; with the lock held. */
static void rest(struct server *server)
{
    int64_t expiry_ms = asides_expiry_ms(&server->asides);
    struct timespec end = {.tv_sec = expiry_ms / 1000, .tv_nsec = expiry_ms % 1000 * 1000000};
    server->monitor_sleeps = true;
    if (expiry_ms)
        pthread_cond_timedwait(&server->monitor_called, &server->lock, &end);
    else
        pthread_cond_wait(&server->monitor_called, &server->lock);
    server->monitor_sleeps = false;
}

static void *watch_over_readers(void *user)
{
    struct server *server = user;
    uint64_t n_seen = 0;
    unsigned n_resting = 0;
    LOCKED(&server->lock);
    while (!server->ending) {
        if (has_reader_or_none_left(server) && n_resting > RESTING_N) {
            rest(server);
            n_resting = 0;
        }
        pthread_mutex_unlock(&server->lock);
        usleep(TICK_US);
        serve_refuse_asides(server);
        pthread_mutex_lock(&server->lock);
        if (!server->n_reading && clock_now_us() - server->read_us > UNREAD_US)
            call_reader(server);
        n_resting = server->n_requests == n_seen ? n_resting + 1 : 0;
        n_seen = server->n_requests;
    }
    return NULL;
}

int serve_start(struct server *server)
{
    LOCKED(&server->lock);
    int r = thread_start(&server->monitor, watch_over_readers, server);
    server->has_monitor = r == 0;
    return r < 0 ? r : add_worker(server);
}

/* A thread that is in the midst of a request ends it first. */
void serve_stop(struct server *server)
{
    struct worker *worker;
    {
        LOCKED(&server->lock);
        server->ending = true;
        pthread_cond_broadcast(&server->reader_called);
        pthread_cond_signal(&server->monitor_called);
        LIST_FOREACH(worker, &server->workers, others)
        pthread_cancel(worker->thread);
    }
    if (server->has_monitor)
        pthread_join(server->monitor, NULL);
    while ((worker = LIST_FIRST(&server->workers))) {
        pthread_join(worker->thread, NULL);
        LIST_REMOVE(worker, others);
        free(worker->request.mem);
        free(worker);
    }
}
