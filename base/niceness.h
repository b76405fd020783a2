/* The nice value of an index's threads: they stand back behind the threads that serve users as far
 * as possible, and less while somebody waits for them. Any thread; the lock is a leaf, held for a
 * system call. */
#ifndef KINFS_BASE_NICENESS_H
#define KINFS_BASE_NICENESS_H

#include <pthread.h>
#include <stddef.h>
#include <sys/types.h>

enum { NICENESS_UNWAITED = 19, NICENESS_WAITED = 10, NICENESS_MAX_THREADS = 32 };

struct niceness {
    pthread_mutex_t lock; /* of all below */
    pid_t threads[NICENESS_MAX_THREADS];
    size_t n_threads;
    unsigned n_waiting;
};

void niceness_init(struct niceness *niceness);
void niceness_done(struct niceness *niceness);

/* The calling thread joins, or leaves. A thread that could not come back from a higher nice value
 * (no CAP_SYS_NICE), or is one too many, stays at NICENESS_WAITED. */
void niceness_join(struct niceness *niceness);
void niceness_leave(struct niceness *niceness);

/* Somebody begins to wait for the threads, and ends. */
void niceness_wait_begin(struct niceness *niceness);
void niceness_wait_end(struct niceness *niceness);

#endif
