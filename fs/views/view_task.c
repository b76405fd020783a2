/* Requests that may wait for the index, on threads of their own. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "fs/inodes/identity.h"
#include "fs/views/view.h"

/* Queries mostly wait: for the index to settle or for reads of the store. A user has four at a time
 * at most, for more would only compete with the sketching they wait for, and no more than are left
 * for others (fs/views/defer.h): three users who ask all they can leave one to a fourth. */
enum { N_THREADS = 8 };
/* Questions about documents in no tree, two of a user: what such a one has is read and sketched
 * here, where an extractor can take its minute. */
enum { N_LONG_MAX = 4 };
/* There is a task for each process that waits in a view; who has the most is told EAGAIN when
 * there are more. */
enum { N_WAITING_MAX = 1024 };
/* Tasks and their supplementary groups take 16 MiB at most. A user may have as many as are left
 * then, so that one of 65,536 groups, the most there can be, waits with 31. */
enum { N_GROUPS_MAX = 1 << 22 };
/* When two owners of locked directories have all they can have, a quarter of these is left: a third
 * one has as many as there are threads that ask. */
enum { N_LOOKS_MAX = 64 };

/* The kernel holds a directory's lock for a request that looks a name up there, or lists. Whoever
 * asks for the same name waits for its answer, and whoever asks for another one behind a third one
 * who would change the directory, as anybody may try; who waits so cannot be killed. Where that is
 * a rename(2) to another directory, so does everybody's in the mount. So what has not been answered
 * in this time, beyond what a view waits for the index, ends: a second, and of another user than
 * root and the owner less, as the others of that one's threads have taken (slow_turns.h), where the
 * user has another thread for which it has been longer; and else what one name of a walk through
 * large documents can take. What unique/ skips is one name, and the computing of all: a backup,
 * which asks for it first, has the time that this takes. */
enum { LATE_MS = 1000, LATE_ALONE_MS = SLOW_TURN_MS, LATE_BACKUP_MS = 600000 };

/* A thread of another PID namespace has no number here. */
static uint64_t thread_of(const struct view_task *task)
{
    const pid_t pid = fuse_req_ctx(task->req)->pid;
    return pid ? (uint64_t)pid : (uintptr_t)task;
}

static int64_t most_ms(const struct fs *fs)
{
    return fs->options.settle_ms + LATE_MS;
}

/* The time that a request may take of a thread which has not the turn. */
static int64_t allowed_ms(const struct view_task *task, int64_t now_ms)
{
    struct fs *fs = task->fs;
    return task->caller.all
               ? most_ms(fs)
               : slow_turns_allowed_ms(&fs->views->slow_turns, fuse_req_ctx(task->req)->uid,
                                       thread_of(task), most_ms(fs), now_ms);
}

bool view_is_late(const struct view_task *task)
{
    const int64_t now_ms = clock_now_ms(), taken_ms = now_ms - task->come_ms;
    const int settle_ms = task->fs->options.settle_ms;
    if (!task->holds_lock || taken_ms < (task->caller.all ? most_ms(task->fs) : SLOW_MS))
        return false;
    if (task->is_long) /* the list alone holds it then */
        return taken_ms >= settle_ms + LATE_BACKUP_MS;
    if (taken_ms >= settle_ms + LATE_ALONE_MS)
        return true;
    return !slow_turns_take(&task->fs->views->slow_turns, fuse_req_ctx(task->req)->uid,
                            thread_of(task), now_ms) &&
           taken_ms >= allowed_ms(task, now_ms) &&
           (!task->begun_ms || now_ms - task->begun_ms >= SLOW_MS);
}

/* How long a task may wait for the index, from now on. Where the kernel holds a lock for it, what
 * is left for the answer comes first. From here, where it holds none: what stood in the queue is to
 * wait for the index too. */
static int64_t end_of_wait_ms(const struct view_task *task)
{
    const int64_t now_ms = clock_now_ms();
    if (!task->holds_lock)
        return now_ms + task->fs->options.settle_ms;
    const int64_t wait_ms = allowed_ms(task, now_ms) - LATE_MS;
    return task->come_ms + (wait_ms > 0 ? wait_ms : 0);
}

/* Nothing of a listing, from where it was to go on: an entry that none is shown, so that it is
 * asked for again, and the lock is given back meanwhile. */
static void reply_later(const struct view_task *task)
{
    char entry[256];
    const struct fuse_entry_param nothing = {.attr = {.st_mode = S_IFDIR}};
    const size_t n_bytes =
        task->plus
            ? fuse_add_direntry_plus(task->req, entry, sizeof(entry), ".", &nothing, task->offset)
            : fuse_add_direntry(task->req, entry, sizeof(entry), ".", &nothing.attr, task->offset);
    fuse_reply_buf(task->req, entry, n_bytes);
}

/* The computing does not tell why it was stopped. */
void view_reply_err(const struct view_task *task, int error)
{
    const bool is_late = error == -EINTR && task->holds_lock && !fuse_req_interrupted(task->req);
    const int64_t taken_ms = clock_now_ms() - task->come_ms;
    if (is_late && task->size && !task->caller.all &&
        taken_ms < task->fs->options.settle_ms + LATE_ALONE_MS)
        reply_later(task);
    else
        fuse_reply_err(task->req, is_late ? EAGAIN : -of_daemon(error));
}

int view_caller(struct fs *fs, fuse_req_t req, struct caller *ret_caller)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);
    _cleanup_free_ gid_t *groups = NULL;
    size_t n_groups = 0;
    int r = 0;
    if (identity_is_judged(req, fs->inodes.root))
        r = -EACCES;
    else if (caller_is_restricted(ctx->uid))
        r = identity_get_groups(req, &groups, &n_groups);
    else
        r = identity_check_sender(req);
    if (r < 0)
        return r;
    return caller_init(ret_caller, fs->backing, ctx->uid, ctx->gid, groups, n_groups);
}

static void task_free(struct view_task *task)
{
    if (task->n_room)
        user_room_leave(&task->fs->views->groups, task->asker, task->n_room);
    if (!task->as)
        caller_done(&task->caller);
    if (task->inode)
        inode_forget(&task->fs->inodes, task->inode, 1);
    free(task->name);
    free(task);
}

static void run(void *user, int error)
{
    struct view_task *task = user;
    struct slow_turns *turns = &task->fs->views->slow_turns;
    const bool is_counted = task->holds_lock && !task->caller.all;
    const uid_t uid = fuse_req_ctx(task->req)->uid; /* there is no request after the reply */
    const uint64_t thread = thread_of(task);
    task->begun_ms = error ? 0 : clock_now_ms();
    task->end_ms = end_of_wait_ms(task);
    task->looking =
        (struct looking){.looks = task->fs->views->looks, .left_us = LOOKING_MS * INT64_C(1000)};
    task->caller.looking = &task->looking;
    if (error)
        view_reply_err(task, error);
    else
        task->run(task);
    if (is_counted)
        slow_turns_end(turns, uid, thread, most_ms(task->fs), task->come_ms, clock_now_ms());
    listed_way_done(&task->way);
    task_free(task);
}

static bool given_up(void *user)
{
    const struct view_task *task = user;
    return fuse_req_interrupted(task->req) || view_is_late(task);
}

static uid_t user_of(void *user)
{
    return ((struct view_task *)user)->caller.uid;
}

static bool is_long(void *user)
{
    return ((struct view_task *)user)->is_long;
}

int view_tasks_new(struct views *views)
{
    user_room_init(&views->groups, N_GROUPS_MAX);
    slow_turns_init(&views->slow_turns);
    int r = looks_new(N_LOOKS_MAX, &views->looks);
    if (r < 0)
        return r;
    struct defer_options options = {.n_threads = N_THREADS,
                                    .n_long_max = N_LONG_MAX,
                                    .n_waiting_max = N_WAITING_MAX,
                                    .run = run,
                                    .given_up = given_up,
                                    .user_of = user_of,
                                    .is_long = is_long};
    return defer_new(&options, &views->defer);
}

static int take_caller(struct view_task *task)
{
    int r = view_caller(task->fs, task->req, &task->caller);
    if (r < 0)
        return r;
    const size_t n = task->caller.n_groups + 1;
    task->asker = task->caller.uid; /* a handle takes the caller over */
    if (!user_room_enter(&task->fs->views->groups, task->asker, n))
        return -EAGAIN;
    task->n_room = n;
    return 0;
}

static int make_task(struct fs *fs, fuse_req_t req, const struct view_task *like,
                     struct view_task **ret_task)
{
    struct view_task *task = malloc(sizeof(*task));
    if (!task) {
        if (like->inode)
            inode_forget(&fs->inodes, like->inode, 1);
        return -ENOMEM;
    }
    *task = *like;
    task->fs = fs;
    task->req = req;
    task->come_ms = clock_now_ms();
    task->caller = like->as ? *like->as : (struct caller){0};
    task->way = (struct listed_way){0};
    task->name = NULL;
    if (like->name) {
        size_t n_bytes = like->n_name_bytes ? like->n_name_bytes : strlen(like->name) + 1;
        task->name = malloc(n_bytes);
        if (task->name)
            memcpy(task->name, like->name, n_bytes);
    }
    int r = like->name && !task->name ? -ENOMEM : 0;
    if (!r && !like->as)
        r = take_caller(task);
    if (r < 0) {
        task_free(task);
        return r;
    }
    *ret_task = task;
    return 0;
}

void view_defer(struct fs *fs, fuse_req_t req, const struct view_task *like)
{
    struct view_task *task;
    int r = make_task(fs, req, like, &task);
    if (!r) {
        r = defer_push(fs->views->defer, task);
        if (r < 0)
            task_free(task);
    }
    if (r < 0)
        fuse_reply_err(req, -of_daemon(r));
}
