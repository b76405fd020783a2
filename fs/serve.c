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
 *
 * Threads are shared out by user (user_room.h), for a request may stand for ever: one of a user who
 * has as many as are left is put aside (aside.h) until one of them ends, or is refused by the
 * monitor.
 *
 * Requests are in memory: the library hands a pipe where it may splice them, which it may not
 * (connection.c).
 */
#include "fs/serve.h"

#include <assert.h>
#include <errno.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "fs/aside.h"
#include "fs/inodes/open_file.h"

enum {
    /* Each request that stands, in fsync(2) of a slow disk or in a file system that is frozen, has
     * one; they are begun when they are wanted, and kept. A user who is alone has half of them. */
    MOST_THREADS = 512,

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

    /* The memory of requests that are put aside: half of what those that are served may take. */
    MOST_ASIDE_BYTES = MOST_THREADS / 2 << 20,
};

struct worker {
    LIST_ENTRY(worker) others;
    struct server *server;
    pthread_t thread;
    struct fuse_buf request;
    int64_t answered_us; /* its last request; 0: none yet */
    bool looks;          /* for the next one, before it sleeps: nobody else reads */
};

struct server {
    struct fs *fs;
    struct fuse_session *session;
    sem_t *end;
    struct index *index; /* or NULL */
    bool may_look;       /* there is a processor for those who ask */
    unsigned most_readers;
    pthread_t monitor;
    bool has_monitor;
    struct user_room users; /* the threads that answer, by whom they answer */
    struct asides asides;   /* of users who have none left */

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t reader_called, monitor_called;
    LIST_HEAD(, worker) workers;
    unsigned n_workers, n_reading;
    unsigned n_parked, n_called; /* of those parked some are called: they count as reading */
    bool ending, monitor_sleeps;
    int error;
    int64_t read_us;     /* when there last was a reader */
    int64_t answered_us; /* the last request */
    unsigned n_quick;    /* requests that followed each other quickly, up to QUICK_N */
    unsigned n_found;    /* that came while it would have paid to look, up to LOOK_N */
    unsigned slowness;   /* rises with slow answers, falls with others */
    unsigned n_wanted;   /* threads that are not parked */
    int64_t wanted_since_us;
    uint64_t n_requests;
};

static void *work(void *user);

/* -- who reads; with the lock held -- */

static int add_worker(struct server *server)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return -ENOMEM;
    worker->server = server;
    int r = thread_start(&worker->thread, work, worker);
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
           (server->n_called == server->n_parked && server->n_workers == MOST_THREADS);
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
        return MOST_THREADS;
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
static void let_another_read(struct server *server)
{
    LOCKED(&server->lock);
    server->n_reading--;
    if (server->n_called < server->n_parked)
        call_reader(server);
    if (!server->n_reading && server->monitor_sleeps)
        pthread_cond_signal(&server->monitor_called);
    wait_to_be_called(server, true);
}

/* -- one request -- */

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

static bool is_more_waiting(const struct server *server)
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

static void begin_request(struct worker *worker, bool more, int64_t at_us)
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

static void end_request(struct worker *worker, int64_t begun_us)
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
        want_threads(server, MOST_THREADS, at_us);
    park(server, at_us);
    worker->looks = server->may_look && server->n_reading == 1;
}

/* Until there is a request, or it does not seem that there will soon be one. */
static void look(struct worker *worker)
{
    struct server *server = worker->server;
    int64_t last_us = worker->answered_us, at_us;
    {
        LOCKED(&server->lock);
        if (server->n_found < LOOK_N)
            return;
    }
    while (!is_more_waiting(server)) {
        at_us = clock_now_us();
        if (at_us - last_us > PREEMPTED_US || at_us - worker->answered_us > LOOK_US)
            return;
        last_us = at_us;
    }
}

static int receive(struct worker *worker)
{
    int unused;
    if (worker->looks)
        look(worker);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &unused);
    int r = fuse_session_receive_buf(worker->server->session, &worker->request);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
    return r;
}

/* The data of a request was stored in a mapping, and nobody else has a copy. */
static bool is_written_back(const struct fuse_in_header *in)
{
    const struct fuse_write_in *write = (const void *)(in + 1);
    return in->opcode == FUSE_WRITE && write->write_flags & FUSE_WRITE_CACHE;
}

static uid_t opener_of(struct fs *fs, uint64_t node_id, uint64_t fh)
{
    return node_of(fs, node_id)->kind == NODE_VIEW ? USER_NOBODY
                                                   : ((struct open_file *)(uintptr_t)fh)->payer;
}

static uid_t asker_of(struct server *server, const struct fuse_in_header *in)
{
    return user_room_payer(&server->users, in->uid, (pid_t)in->pid);
}

/* The user is the one who is answered. Of what the kernel does by itself with an open file it names
 * no user: it is who opened the file, which the kernel keeps until it is answered. What else ends
 * something is nobody's, and stands for nobody: what is closed for it other threads close, however
 * long that takes (fs/inodes/late_close.h), and it counts until then. */
static uid_t user_of(struct server *server, const struct fuse_in_header *in)
{
    struct fs *fs = server->fs;
    const void *arguments = in + 1;
    switch (in->opcode) {
    case FUSE_WRITE: {
        const struct fuse_write_in *write = arguments;
        return is_written_back(in) ? opener_of(fs, in->nodeid, write->fh) : asker_of(server, in);
    }
    case FUSE_RELEASE: {
        const struct fuse_release_in *release = arguments;
        return opener_of(fs, in->nodeid, release->fh);
    }
    case FUSE_INIT:
    case FUSE_DESTROY:
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
    case FUSE_NOTIFY_REPLY:
    case FUSE_RELEASEDIR: return USER_NOBODY;
    default: return asker_of(server, in);
    }
}

/* A request that the library does not know of is answered here: it is not begun. */
static void reply_unbegun(struct server *server, uint64_t id, int error)
{
    struct fuse_out_header out = {.len = sizeof(out), .error = error, .unique = id};
    /* Fails where nobody waits any more. */
    (void)!write(fuse_session_fd(server->session), &out, sizeof(out));
}

/* A request that is put aside has lost its asker. An interruption that comes before its request is
 * put aside the library keeps; the kernel repeats it when the next one is answered. */
static bool interrupt_aside(struct server *server, const struct fuse_in_header *in)
{
    const struct fuse_interrupt_in *interrupt = (const void *)(in + 1);
    if (in->opcode != FUSE_INTERRUPT)
        return false;
    int r = asides_interrupt(&server->asides, interrupt->unique);
    if (r == 1)
        reply_unbegun(server, interrupt->unique, -EINTR);
    return r >= 0;
}

/* The monitor then has something to wait for. */
static void note_aside(struct server *server)
{
    LOCKED(&server->lock);
    if (server->monitor_sleeps)
        pthread_cond_signal(&server->monitor_called);
}

/* A thread is left for the user; else the request is put aside until there is, or refused. Two
 * things never are, and are answered as nobody's where there is no memory to put them aside: a
 * close, as it is known by no other request that its record locks end, or that its descriptor is to
 * be closed; and what is written back of a mapping, which would be lost: a disk that stands still
 * for a minute costs time and no data.
 *
 * A release that is put aside is answered at once, as nobody waits for it: the kernel counts it
 * among what is in the background, and of that others could have no more (connection.c). */
static bool enter(struct worker *worker, uid_t *uid)
{
    struct server *server = worker->server;
    const struct fuse_in_header *in = worker->request.mem;
    const bool is_release = in->opcode == FUSE_RELEASE,
               must = is_release || in->opcode == FUSE_FLUSH || is_written_back(in);
    const uint64_t unique = in->unique;
    if (user_room_enter(&server->users, *uid, 1))
        return true;
    int r =
        asides_put(&server->asides, *uid, unique, must, in, worker->request.size, clock_now_ms());
    if (r == 0 && is_release)
        reply_unbegun(server, unique, 0);
    if (r == 0)
        note_aside(server);
    else if (r < 0 && must)
        *uid = USER_NOBODY;
    else if (r < 0)
        reply_unbegun(server, unique, r);
    return r == 1 || *uid == USER_NOBODY;
}

/* A request that was put aside and has kept the locks that the kernel holds for it for long enough
 * is refused. */
static void refuse_asides(struct server *server)
{
    struct aside *aside;
    while ((aside = asides_expire(&server->asides, clock_now_ms()))) {
        reply_unbegun(server, aside->id, -EAGAIN);
        aside_free(&server->asides, aside);
    }
}

/* A request that was put aside and can have a thread now is answered. A file system that has ended
 * awaits no answer. */
static void answer_asides(struct server *server)
{
    struct aside *aside;
    while (!fuse_session_exited(server->session) && (aside = asides_take(&server->asides))) {
        struct fuse_buf request = {.mem = aside->request, .size = aside->n_bytes};
        uid_t uid = aside->uid;
        fuse_session_process_buf(server->session, &request);
        aside_free(&server->asides, aside);
        user_room_leave(&server->users, uid, 1);
    }
}

static void answer(struct worker *worker)
{
    struct server *server = worker->server;
    uid_t uid = user_of(server, worker->request.mem);
    if (interrupt_aside(server, worker->request.mem) || !enter(worker, &uid))
        return; /* and read on */
    int64_t begun_us = clock_now_us();
    if (server->index)
        index_note_use(server->index);
    begin_request(worker, server->most_readers > 1 && is_more_waiting(server), begun_us);
    fuse_session_process_buf(server->session, &worker->request);
    user_room_leave(&server->users, uid, 1);
    answer_asides(server);
    end_request(worker, begun_us);
}

static void *work(void *user)
{
    struct worker *worker = user;
    struct server *server = worker->server;
    int r = 0, unused;
    pthread_setname_np(pthread_self(), "kinfs_serve");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
    while (!fuse_session_exited(server->session)) {
        r = receive(worker);
        if (r == -ENOMEM)
            let_another_read(server);
        if (r == -EINTR || r == -EAGAIN || r == -ENOMEM)
            continue;
        if (r <= 0)
            break;
        assert(!(worker->request.flags & FUSE_BUF_IS_FD));
        answer(worker);
    }
    if (r < 0) {
        LOCKED(&server->lock);
        server->error = r;
    }
    fuse_session_exit(server->session);
    sem_post(server->end);
    return NULL;
}

/* -- those who wait -- */

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
        refuse_asides(server);
        pthread_mutex_lock(&server->lock);
        if (!server->n_reading && clock_now_us() - server->read_us > UNREAD_US)
            call_reader(server);
        n_resting = server->n_requests == n_seen ? n_resting + 1 : 0;
        n_seen = server->n_requests;
    }
    return NULL;
}

static int start(struct server *server)
{
    LOCKED(&server->lock);
    int r = thread_start(&server->monitor, watch_over_readers, server);
    server->has_monitor = r == 0;
    return r < 0 ? r : add_worker(server);
}

/* A thread that is in the midst of a request ends it first. */
static void stop(struct server *server)
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

static unsigned count_processors(void)
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0
               ? (unsigned)CPU_COUNT(&processors)
               : 1;
}

int serve(struct fs *fs, void (*begun)(void *user), void *user)
{
    unsigned n_processors = count_processors();
    struct server server = {.fs = fs,
                            .session = fs->session,
                            .end = &fs->end,
                            .index = fs->index,
                            .may_look = n_processors > 1,
                            .most_readers = n_processors > 3 ? n_processors / 2 : 1,
                            .n_wanted = 1};
    user_room_init(&server.users, MOST_THREADS);
    asides_init(&server.asides, &server.users, MOST_ASIDE_BYTES);
    pthread_mutex_init(&server.lock, NULL);
    pthread_cond_init(&server.reader_called, NULL);
    thread_cond_init(&server.monitor_called);
    LIST_INIT(&server.workers);
    int r = start(&server);
    if (r == 0) {
        own_mount_ask(&fs->own, fs->session, fs->options.mountpoint);
        begun(user);
        while (!fuse_session_exited(fs->session))
            sem_wait(&fs->end);
    }
    stop(&server);
    pthread_cond_destroy(&server.monitor_called);
    pthread_cond_destroy(&server.reader_called);
    pthread_mutex_destroy(&server.lock);
    asides_done(&server.asides);
    user_room_done(&server.users);
    return r < 0 ? r : server.error;
}
