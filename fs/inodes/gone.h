/* Inodes that are gone, and who comes back to them.
 *
 * An inode that was removed beside the mount opens neither by its key nor by a name. Who asks for
 * it is told ESTALE: perhaps a name led there that means something else by now. The kernel then
 * looks all names up again and comes back, once; a second ESTALE the program is told. So it is
 * remembered for a moment which thread was told so of what:
 *   - What its next lookup finds is kept open until it asks for that, which may be replaced at once
 *     as well. It had it by name: it is given what it found.
 *   - Where it comes back to what it was told of, no name led it there: it stands in it, or has an
 *     O_PATH descriptor. So it is answered as what was removed, as far as there is a descriptor;
 *     for the rest of that call, since the next may come by an old name again. A call looks no name
 *     up twice, two at most, and then does one thing.
 *
 * Costs a look at a counter where nobody was told. No lock is taken under its own but that of the
 * late close.
 *
 * Threads: any. The asker is who the calling thread answers, as gone_ask() was told last, for each
 * request by fs_of(); where that was not called (the watch, the views) nobody asks.
 */
#ifndef KINFS_FS_INODES_GONE_H
#define KINFS_FS_INODES_GONE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct inode;
struct gone_asker;
struct late_close;

enum { GONE_MARKS = 64, GONE_NAMES = 2 };

struct gone_mark {
    pid_t thread;             /* 0: none */
    uid_t uid;                /* the thread's */
    const struct inode *told; /* compared only, as found; NULL: of what is not known, or freed */
    const struct inode *found;
    int fd; /* O_PATH, of found; or -1 */
    int64_t told_ms;
    uint64_t names[GONE_NAMES]; /* looked up since it came back, as hashes */
    unsigned n_names;
    bool has_done; /* what is no lookup */
    const struct gone_asker
        *served;        /* the request that was let through last: by whom of us it is */
    uint64_t served_no; /* served, which of his */
};

struct gone {
    pthread_mutex_t lock;
    struct late_close *late; /* borrowed; what is kept for one may be given up by another */
    atomic_size_t n_late;    /* to be closed; of too many nothing is kept */
    atomic_uint n_marks;     /* so that nobody takes the lock where there are none */
    struct gone_mark marks[GONE_MARKS];
};

void gone_init(struct gone *gone, struct late_close *late);
void gone_done(struct gone *gone); /* before the end of late */

/* The asker from now on, in this thread of ours, and, of a lookup, the name that is asked for. 0:
 * nobody who could come back. Marks are few: of too many the oldest of the user who has the most
 * ends. */
void gone_ask(pid_t thread, uid_t uid);
void gone_ask_name(const char *name);

/* An inode that has no links any more may be had by the asker nevertheless. */
bool gone_is_back(struct gone *gone, const struct inode *inode);
/* The asker is about to be told ESTALE of an inode; NULL: of what came to be in its way. */
void gone_tell(struct gone *gone, const struct inode *inode);

/* The asker found an inode by a name; fd: O_PATH, or -1: it is kept otherwise. Taken where it is of
 * use, which leaves -1. */
void gone_found(struct gone *gone, const struct inode *inode, int *fd);

/* The descriptor that is kept of an inode for the asker, who then has it; or -1. */
int gone_take(struct gone *gone, const struct inode *inode);

/* An inode is about to be freed: what is at its address next is another. */
void gone_forget(struct gone *gone, const struct inode *inode);

/* The asker has opened what it wanted: what it finds next time by an old name is not for it. */
void gone_over(struct gone *gone);

#endif
