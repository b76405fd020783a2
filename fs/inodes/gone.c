#include "fs/inodes/gone.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "fs/inodes/late_close.h"

/* The kernel comes back at once, but who asks may not have a processor for a while. A mark that is
 * forgotten costs an ESTALE, one that is kept too long a descriptor of what somebody may want to be
 * rid of. A thread that opens the same name again looks it up anew as soon as the kernel knows that
 * it means something else, and has then found that. */
enum { TOLD_MS = 5000 };

static _Thread_local struct gone_asker {
    pid_t thread;
    uid_t uid;
    uint64_t name; /* of a lookup, a hash; 0: it is none */
    uint64_t no;   /* grows */
} asker;

static void take_fd(struct gone *gone, struct gone_mark *mark, int fd)
{
    if (mark->fd >= 0) {
        gone->n_late++;
        late_close(gone->late, mark->fd, (struct late_count){.n = &gone->n_late});
    }
    mark->fd = fd;
}

void gone_init(struct gone *gone, struct late_close *late)
{
    *gone = (struct gone){.late = late};
    pthread_mutex_init(&gone->lock, NULL);
    for (size_t i = 0; i < GONE_MARKS; i++)
        gone->marks[i].fd = -1;
}

void gone_done(struct gone *gone)
{
    for (size_t i = 0; i < GONE_MARKS; i++)
        take_fd(gone, &gone->marks[i], -1);
    pthread_mutex_destroy(&gone->lock);
}

void gone_ask(pid_t thread, uid_t uid)
{
    asker.thread = thread;
    asker.uid = uid;
    asker.name = 0;
    asker.no++;
}

void gone_ask_name(const char *name)
{
    asker.name = 0xcbf29ce484222325u;
    for (; *name; name++)
        asker.name = (asker.name ^ (uint8_t)*name) * 0x100000001b3u;
    asker.name |= 1;
}

/* -- marks; with the lock held -- */

static void end_mark(struct gone *gone, struct gone_mark *mark)
{
    take_fd(gone, mark, -1);
    mark->thread = 0;
    atomic_fetch_sub(&gone->n_marks, 1);
}

/* The asker's, or NULL; those that are too old end. */
static struct gone_mark *mark_of_asker(struct gone *gone)
{
    struct gone_mark *found = NULL;
    int64_t now = clock_now_ms();
    for (size_t i = 0; i < GONE_MARKS; i++) {
        struct gone_mark *mark = &gone->marks[i];
        if (mark->thread && now - mark->told_ms > TOLD_MS)
            end_mark(gone, mark);
        if (mark->thread && mark->thread == asker.thread && mark->uid == asker.uid)
            found = mark;
    }
    return found;
}

static unsigned n_of_user(const struct gone *gone, uid_t uid)
{
    unsigned n = 0;
    for (size_t i = 0; i < GONE_MARKS; i++)
        n += gone->marks[i].thread && gone->marks[i].uid == uid;
    return n;
}

/* A free one, or the oldest of who has the most: nobody takes the marks of others by many. */
static struct gone_mark *new_mark(struct gone *gone)
{
    struct gone_mark *new = NULL;
    unsigned n_most = 0;
    for (size_t i = 0; i < GONE_MARKS && !(new && !new->thread); i++) {
        struct gone_mark *mark = &gone->marks[i];
        unsigned n = n_of_user(gone, mark->uid);
        if (!mark->thread || n > n_most || (n == n_most && mark->told_ms < new->told_ms)) {
            new = mark;
            n_most = n;
        }
    }
    if (new->thread)
        end_mark(gone, new);
    atomic_fetch_add(&gone->n_marks, 1);
    *new = (struct gone_mark){.thread = asker.thread, .uid = asker.uid, .fd = -1};
    return new;
}

static bool is_found(const struct gone_mark *mark, const struct inode *inode)
{
    return mark && mark->found == inode;
}

/* -- */

/* The asker is in the call that was told. Whether this is a part of it that has not been. */
static bool is_next(struct gone_mark *mark)
{
    if (mark->served == &asker && mark->served_no == asker.no)
        return true;
    if (asker.name) {
        for (unsigned i = 0; i < mark->n_names; i++)
            if (mark->names[i] == asker.name)
                return false;
        if (mark->n_names == GONE_NAMES || mark->has_done)
            return false;
        mark->names[mark->n_names++] = asker.name;
    } else if (mark->has_done) {
        return false;
    } else {
        mark->has_done = true;
    }
    mark->served = &asker;
    mark->served_no = asker.no;
    return true;
}

bool gone_is_back(struct gone *gone, const struct inode *inode)
{
    if (!atomic_load_explicit(&gone->n_marks, memory_order_relaxed))
        return false;
    LOCKED(&gone->lock);
    struct gone_mark *mark = mark_of_asker(gone);
    return is_found(mark, inode) || (mark && mark->told == inode && is_next(mark));
}

void gone_tell(struct gone *gone, const struct inode *inode)
{
    if (!asker.thread)
        return;
    LOCKED(&gone->lock);
    struct gone_mark *mark = mark_of_asker(gone);
    if (!mark)
        mark = new_mark(gone);
    take_fd(gone, mark, -1);
    *mark = (struct gone_mark){.thread = asker.thread,
                               .uid = asker.uid,
                               .told = inode,
                               .told_ms = clock_now_ms(),
                               .fd = -1};
}

void gone_found(struct gone *gone, const struct inode *inode, int *fd)
{
    if (!atomic_load_explicit(&gone->n_marks, memory_order_relaxed))
        return;
    LOCKED(&gone->lock);
    struct gone_mark *mark = mark_of_asker(gone);
    if (!mark)
        return;
    take_fd(gone, mark, gone->n_late < GONE_MARKS ? TAKE_FD(*fd) : -1);
    mark->found = inode;
}

int gone_take(struct gone *gone, const struct inode *inode)
{
    if (!atomic_load_explicit(&gone->n_marks, memory_order_relaxed))
        return -1;
    LOCKED(&gone->lock);
    struct gone_mark *mark = mark_of_asker(gone);
    return is_found(mark, inode) ? TAKE_FD(mark->fd) : -1;
}

void gone_forget(struct gone *gone, const struct inode *inode)
{
    if (!atomic_load_explicit(&gone->n_marks, memory_order_relaxed))
        return;
    LOCKED(&gone->lock);
    for (size_t i = 0; i < GONE_MARKS; i++) {
        struct gone_mark *mark = &gone->marks[i];
        if (mark->told == inode)
            mark->told = NULL;
        if (mark->found == inode) {
            mark->found = NULL;
            take_fd(gone, mark, -1);
        }
    }
}

void gone_over(struct gone *gone)
{
    if (!atomic_load_explicit(&gone->n_marks, memory_order_relaxed))
        return;
    LOCKED(&gone->lock);
    struct gone_mark *mark = mark_of_asker(gone);
    if (mark)
        end_mark(gone, mark);
}
