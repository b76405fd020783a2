/* One request after the other, by each thread; who reads is decided in serve_readers.c.
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
#include <sched.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "fs/inodes/open_file.h"
#include "fs/serve_private.h"

enum {
    /* The memory of requests that are put aside: half of what those that are served may take. */
    MOST_ASIDE_BYTES = SERVE_MOST_THREADS / 2 << 20,
};

static int receive(struct worker *worker)
{
    int unused;
    if (worker->looks)
        serve_look(worker);
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
void serve_refuse_asides(struct server *server)
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
    serve_begin_request(worker, server->most_readers > 1 && serve_is_more_waiting(server),
                        begun_us);
    fuse_session_process_buf(server->session, &worker->request);
    user_room_leave(&server->users, uid, 1);
    answer_asides(server);
    serve_end_request(worker, begun_us);
}

void *serve_work(void *user)
{
    struct worker *worker = user;
    struct server *server = worker->server;
    int r = 0, unused;
    pthread_setname_np(pthread_self(), "kinfs_serve");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &unused);
    while (!fuse_session_exited(server->session)) {
        r = receive(worker);
        if (r == -ENOMEM)
            serve_let_another_read(server);
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

static unsigned count_processors(void)
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0
               ? (unsigned)CPU_COUNT(&processors)
               : 1;
}

int serve(struct fs *fs, void (*begun)(void *user), void (*ended)(void *user), void *user)
{
    unsigned n_processors = count_processors();
    struct server server = {.fs = fs,
                            .session = fs->session,
                            .end = &fs->end,
                            .index = fs->index,
                            .may_look = n_processors > 1,
                            .most_readers = n_processors > 3 ? n_processors / 2 : 1,
                            .n_wanted = 1};
    user_room_init(&server.users, SERVE_MOST_THREADS);
    asides_init(&server.asides, &server.users, MOST_ASIDE_BYTES);
    pthread_mutex_init(&server.lock, NULL);
    pthread_cond_init(&server.reader_called, NULL);
    thread_cond_init(&server.monitor_called);
    LIST_INIT(&server.workers);
    int r = serve_start(&server);
    if (r == 0) {
        own_mount_ask(&fs->own, fs->session, fs->options.mountpoint);
        begun(user);
        while (!fuse_session_exited(fs->session))
            sem_wait(&fs->end);
        ended(user);
    }
    serve_stop(&server);
    pthread_cond_destroy(&server.monitor_called);
    pthread_cond_destroy(&server.reader_called);
    pthread_mutex_destroy(&server.lock);
    asides_done(&server.asides);
    user_room_done(&server.users);
    return r < 0 ? r : server.error;
}
