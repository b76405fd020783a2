/* Looks into directories that may be locked for ever, on threads that do nothing else.
 *
 * A name that the kernel does not know is looked up under the directory's lock, which whoever may
 * read the directory can keep for as long as they like. So who answers, or works for everybody,
 * takes what is known without that lock; what is not, another thread looks up, and is not waited
 * for beyond a question's time. The directories of one owner have at most as many of these threads
 * as are left for others.
 *
 * Threads: any, one at a time for a question; looks_new() comes before, and looks_free() after all
 * others.
 */
#ifndef KINFS_BASE_LOOKS_H
#define KINFS_BASE_LOOKS_H

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/cleanup.h"

struct looks;

/* A single look waits so long at most; all those of a question that wait together. A disk that has
 * to be asked for each name gives a thousand in that time. */
enum { LOOK_MS = 1000, LOOKING_MS = 10000 };

/* One question's. */
struct looking {
    struct looks *looks; /* borrowed; NULL: the asker's own thread waits, for as long as it takes */
    int64_t left_us;     /* to wait */
};

/* One look: part of what it is about, in memory of its own. */
struct look {
    void (*work)(struct look *look);
    void (*free)(struct look *look);
    uid_t owner;
    enum { LOOK_WAITS, LOOK_RUNS, LOOK_OVER, LOOK_GIVEN_UP } state;
    STAILQ_ENTRY(look) next;
};

/* n_max  threads at most; the first is started now, the next when the one before has something to
 *        do. They are what the calling thread is.
 *
 * Returns 0, -ENOMEM, -EAGAIN; gives. */
int looks_new(unsigned n_max, struct looks **ret_looks);

/* Waits for what runs, however long that takes, and frees what was left. No look may be asked for
 * any more. NULL allowed. */
void looks_free(struct looks *looks);
DEFINE_CLEANUP(struct looks *, looks_free);

/* Have a look at something in a directory, by descriptor, that may wait for its lock.
 *
 * looking  NULL: as one without looks
 * look     work and free are set; nothing in it is borrowed
 *
 * Returns 0: it was done; else it is given up, and freed when it has come back: -EAGAIN (the
 * directory's owner has no thread left, or the question no time), -ETIMEDOUT. */
int looks_do(struct looking *looking, int dir_fd, struct look *look);

/* The same where the owner is said. */
int looks_do_for(struct looking *looking, uid_t owner, struct look *look);

/* A look that nobody waits for: it is done, and freed, once the owner has a thread for it; at the
 * end only freed. Without looks, or where LOOKS_LEFT_MAX wait for a thread, each with what it has
 * open, it is freed now. Some microseconds. */
enum { LOOKS_LEFT_MAX = 4096 };
void looks_leave(struct looks *looks, uid_t owner, struct look *look);

#endif
