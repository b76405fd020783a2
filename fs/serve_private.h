/* What the files of serve.h share: one request after the other (serve.c), and which of the threads
 * reads (serve_readers.c). */
#ifndef KINFS_FS_SERVE_PRIVATE_H
#define KINFS_FS_SERVE_PRIVATE_H

#include <pthread.h>
#include <sys/queue.h>

#include "fs/aside.h"
#include "fs/state.h"

enum {
    /* Each request that stands, in fsync(2) of a slow disk or in a file system that is frozen, has
     * one; they are begun when they are wanted, and kept. A user who is alone has half of them. */
    SERVE_MOST_THREADS = 512,
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

/* -- one request (serve.c) -- */

void *serve_work(void *worker); /* of a thread: one request after the other */
void serve_refuse_asides(struct server *server);

/* -- who reads (serve_readers.c) -- */

int serve_start(struct server *server);
void serve_stop(struct server *server);

void serve_look(struct worker *worker);
void serve_let_another_read(struct server *server);
bool serve_is_more_waiting(const struct server *server);
/* Between the two the worker answers. more: requests wait to be read. */
void serve_begin_request(struct worker *worker, bool more, int64_t at_us);
void serve_end_request(struct worker *worker, int64_t begun_us);

#endif
