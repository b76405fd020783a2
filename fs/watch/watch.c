#include "fs/watch/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <linux/fs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "fs/watch/watch_private.h"

enum {
    /* Events are read this long after the first: a burst of them is one batch. */
    GATHER_MS = 25,
    /* Behind by more than this, the kernel is told to keep nothing for long. */
    BEHIND_MS = 500,
    /* Attributes that were told may be wrong for want of an event: access times after reading
     * beside the mount, and times after a store through a mapping that stays when its file has been
     * closed. */
    ATTR_TIMEOUT_S = 60,
    /* Names have no such exceptions; but an older kernel cannot be told that all may be wrong. */
    ENTRY_TIMEOUT_S = 3600,
    ENTRY_TIMEOUT_OLD_S = 60,
    EPOCH_MINOR = 44, /* of the protocol */
};

/* -- what the kernel may keep -- */

/* The part that needs no lock. */
static bool is_behind(const struct watch *watch)
{
    long long since = atomic_load(&watch->reading_since_ms);
    return atomic_load(&watch->lost) || (since && clock_now_ms() - since > BEHIND_MS);
}

/* Only the tree's own file system is watched: what is mounted inside the tree may go away at any
 * time, and is not indexed. */
static bool is_watched(const struct fs *fs, const struct inode *inode)
{
    return fs->watch && fs->watch->source && fs->watch->source->sees_all && !is_behind(fs->watch) &&
           file_key_same_file_system(&inode->key, backing_root_key(fs->backing));
}

/* Nobody is told of a store in a mapping of a file that is passed through, which changes its times.
 * A read or a write there has the kernel ask again in any case. */
double watch_attr_timeout_s(struct fs *fs, const struct inode *inode)
{
    if (atomic_load_explicit(&inode->n_may_store, memory_order_relaxed))
        return 0;
    return is_watched(fs, inode) ? ATTR_TIMEOUT_S : WATCH_SHORT_S;
}

/* The event tells one spelling of a name, and the kernel may know others that differ in case. */
static bool folds_case(struct fs *fs, struct inode *directory)
{
    int known = atomic_load(&directory->folds_case);
    if (!known) {
        _cleanup_close_ int fd = inode_open(&fs->inodes, directory, O_RDONLY | O_DIRECTORY);
        unsigned flags = 0;
        if (fd < 0)
            return true;
        bool folds = ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_CASEFOLD_FL);
        known = folds ? FOLDS_CASE : FOLDS_NOTHING;
        atomic_store(&directory->folds_case, known);
    }
    return known == FOLDS_CASE;
}

double watch_entry_timeout_s(struct fs *fs, struct inode *directory)
{
    /* The next one who asks may be refused by the file system. */
    if (directory && inode_judges(&fs->inodes, directory) != JUDGES_BY_MODE)
        return 0;
    if (!directory || !is_watched(fs, directory) || atomic_load(&fs->watch->names_lost) ||
        atomic_load(&fs->watch->names_behind) || !atomic_load(&fs->watch->entry_timeout_s) ||
        folds_case(fs, directory))
        return WATCH_SHORT_S;
    return atomic_load(&fs->watch->entry_timeout_s);
}

void watch_connected(struct fs *fs, unsigned protocol_minor)
{
    if (!fs->watch)
        return;
#ifdef HAVE_NOTIFY_INCREMENT_EPOCH
    bool has_epoch = protocol_minor >= EPOCH_MINOR;
#else
    bool has_epoch = false;
    (void)protocol_minor;
#endif
    atomic_store(&fs->watch->entry_timeout_s, has_epoch ? ENTRY_TIMEOUT_S : ENTRY_TIMEOUT_OLD_S);
}

/* -- the reader -- */

static void deliver(struct watch *watch, struct watch_batch *batch)
{
    bool tells = watch->source->sees_all;
    if (tells)
        watch_tell_attributes(watch, batch);
    if (tells && batch->n_seen && !watch_post_push(&watch->kernel, batch))
        atomic_store(&watch->names_lost, true);
    if (!watch->fs->index || (!batch->n_seen && !batch->wish.number))
        return;
    if (watch_post_push(&watch->index, batch))
        watch_settle_passed_on(watch, batch->wish);
    else if (batch->n_seen)
        index_rescan(watch->fs->index);
}

/* Repeated until all has been told. */
static void recover(struct watch *watch)
{
    if (watch->source->sees_all) {
        atomic_store(&watch->lost, true);
        if (watch_tell_all(watch) < 0)
            return;
        atomic_store(&watch->lost, false);
    }
    if (watch->fs->index)
        index_rescan(watch->fs->index);
}

/* While a directory's lock is held by somebody who hangs, names elsewhere must not stay wrong. */
static void watch_over_names(struct watch *watch)
{
    long long since = atomic_load(&watch->kernel.busy_since_ms);
    bool behind = since && clock_now_ms() - since > BEHIND_MS;
    if (behind != watch->names_behind || atomic_load(&watch->names_lost) ||
        (behind && watch_post_is_waiting(&watch->kernel))) {
        watch_post_clear(&watch->kernel);
        watch_forget_names(watch);
    }
    watch->names_behind = behind;
    atomic_store(&watch->names_lost, false);
}

/* The time for which there is nothing to do but for events; -1: without end. */
static int rest_ms(struct watch *watch)
{
    if (watch->all_again || watch->lost || watch->names_lost || watch->kernel.busy_since_ms ||
        watch_settle_is_wanted(watch))
        return GATHER_MS;
    if (!watch->again || !watch->again->n_seen)
        return -1;
    int64_t in_ms = watch->again_due_ms - clock_now_ms();
    return in_ms < GATHER_MS ? GATHER_MS : (int)in_ms;
}

/* Nobody waits for us at the end, or for an answer. */
static void gather(struct watch *watch)
{
    struct pollfd wake = {.fd = watch->wake_fd, .events = POLLIN};
    if (!watch_settle_is_wanted(watch))
        poll(&wake, 1, GATHER_MS);
}

static void read_events(struct watch *watch)
{
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    struct watch_wish wish = watch_settle_wish(watch);
    watch_moves_begin(watch);
    int r = batch ? watch->source->read(watch, batch) : -ENOMEM;
    if (r < 0) {
        recover(watch);
        watch_batch_unref(batch);
        batch = watch_batch_new();
    }
    if (batch && !watch->lost && !watch->all_again)
        batch->wish = wish;
    if (batch)
        deliver(watch, batch);
    if (!watch_moves_end(watch, batch))
        atomic_store(&watch->names_lost, true);
}

static void look_at_mounts(struct watch *watch)
{
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    int r = batch ? watch_mounts_look(watch, batch) : -ENOMEM;
    if (r < 0)
        recover(watch);
    if (batch && batch->n_seen)
        deliver(watch, batch);
}

static void *read_all(void *user)
{
    struct watch *watch = user;
    struct pollfd fds[] = {{.fd = watch->wake_fd, .events = POLLIN},
                           {.fd = watch->source_fd, .events = POLLIN},
                           {.fd = watch->mounts_fd, .events = POLLPRI}};
    look_at_mounts(watch);
    watch->reading_since_ms = 0;
    while (!watch->stop) {
        if (poll(fds, 3, rest_ms(watch)) < 0 && errno != EINTR)
            usleep(GATHER_MS * 1000);
        if (watch->stop)
            break;
        eventfd_t n_wakes;
        if (fds[0].revents)
            eventfd_read(watch->wake_fd, &n_wakes);
        bool settling = watch_settle_is_wanted(watch);
        if (fds[2].revents & (POLLPRI | POLLERR) || (settling && watch_mounts_changed(watch)))
            look_at_mounts(watch);
        if (watch->lost || watch->all_again)
            recover(watch);
        if (fds[1].revents || watch_again_is_due(watch) || settling) {
            watch->reading_since_ms = clock_now_ms();
            gather(watch);
            read_events(watch);
            watch->reading_since_ms = 0;
        }
        if (watch->source->sees_all)
            watch_over_names(watch);
        for (size_t i = 0; i < 3; i++)
            fds[i].revents = 0;
    }
    return NULL;
}

/* -- its life -- */

static void say_why(struct watch *watch, char *why)
{
    free(watch->why);
    watch->why = why;
}

static int open_source(struct watch *watch, char **ret_error)
{
    static const struct watch_source *const sources[] = {&watch_fanotify, &watch_inotify};
    enum fs_watch wanted = watch->fs->options.watch;
    for (size_t i = 0; i < 2; i++) {
        const struct watch_source *source = sources[i];
        char *why = NULL;
        if (wanted != FS_WATCH_AUTO && wanted != (i == 0 ? FS_WATCH_FANOTIFY : FS_WATCH_INOTIFY))
            continue;
        watch->source = source;
        int r = source->open(watch, &why);
        if (r == 0)
            return 0;
        watch->source = NULL;
        say_why(watch, why);
        if (r == -ENOMEM || wanted != FS_WATCH_AUTO) {
            if (asprintf(ret_error,
                         "-o watch=%s: %s; leave the option out for what can be had here",
                         source->name, why ? why : strerror(-r)) < 0)
                *ret_error = NULL;
            return r;
        }
    }
    return 0;
}

static int start_threads(struct watch *watch)
{
    int r = 0;
    if (watch->source->sees_all)
        r = watch_post_start(&watch->kernel, watch_kernel_work, watch);
    if (r == 0 && watch->fs->index)
        r = watch_post_start(&watch->index, watch_index_work, watch);
    watch->reading_since_ms = clock_now_ms(); /* until what there is to begin with is done */
    if (r == 0)
        r = thread_start(&watch->reader, read_all, watch);
    watch->started = r == 0;
    return r;
}

/* The names that are there before the index looks for the first time are no change. */
static int begin_without_source(struct watch *watch)
{
    _cleanup_(watch_batch_unref_p) struct watch_batch *batch = watch_batch_new();
    return batch ? watch_mounts_look(watch, batch) : -ENOMEM;
}

int watch_start(struct fs *fs, char **ret_error)
{
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return -ENOMEM;
    fs->watch = watch;
    watch->fs = fs;
    watch->source_fd = -1;
    watch_settle_init(watch);
    pthread_mutex_init(&watch->mounts_lock, NULL);
    watch->mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    watch->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int r = watch->wake_fd < 0 ? -errno : open_source(watch, ret_error);
    if (r == 0)
        r = watch->source ? start_threads(watch) : begin_without_source(watch);
    if (r < 0)
        watch_stop(fs);
    return r;
}

/* The thread that tells names waits for a directory whose lock is held during a request that nobody
 * answers any more. */
static void end_kernel(struct watch *watch)
{
    enum { PATIENCE_MS = 300 };
    if (watch_post_end(&watch->kernel, PATIENCE_MS))
        return;
    own_mount_force(&watch->fs->own, watch->fs->session);
    watch_post_end(&watch->kernel, -1);
}

void watch_stop(struct fs *fs)
{
    struct watch *watch = fs->watch;
    if (!watch)
        return;
    watch->stop = true;
    if (watch->started) {
        eventfd_write(watch->wake_fd, 1);
        pthread_join(watch->reader, NULL);
    }
    watch_post_end(&watch->index, -1);
    end_kernel(watch);
    if (watch->source)
        watch->source->close(watch);
    close_p(&watch->wake_fd);
    close_p(&watch->mounts_fd);
    watch_mounts_done(watch);
    pthread_mutex_destroy(&watch->mounts_lock);
    watch_moves_done(watch);
    watch_batch_unref(watch->again);
    watch_index_done(watch);
    watch_settle_done(watch);
    free(watch->why);
    free(watch);
    fs->watch = NULL;
}

void watch_get_status(struct fs *fs, struct fs_status *ret_status)
{
    const struct watch *watch = fs->watch;
    const struct watch_source *source = watch ? watch->source : NULL;
    snprintf(ret_status->watch, sizeof(ret_status->watch), "%s", source ? source->name : "none");
    snprintf(ret_status->watch_why, sizeof(ret_status->watch_why), "%s",
             watch && atomic_load(&watch->is_partial)
                 ? "not all of the tree: fs.inotify.max_user_watches is reached"
             : watch && watch->why ? watch->why
                                   : "");
    ret_status->kept_s =
        source && source->sees_all && !is_behind(watch) ? ATTR_TIMEOUT_S : (int)WATCH_SHORT_S;
}
