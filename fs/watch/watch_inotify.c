/* inotify(7): changes made by way of the directories of the tree, each of which is watched; for the
 * index alone (fs/watch/watch.h). Needs no privileges.
 *
 * An event names a directory's watch and a name in it. What is noted is that name: the index looks
 * what it means now. A directory is watched when the index is about to list it, by the thread that
 * does: what is in it by then is listed, and what comes after is an event. So the reader of events
 * opens and lists nothing, and what it missed is watched by the scan that follows.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/proc_path.h"
#include "fs/watch/watch_private.h"
#include "fs/watch/watched_directories.h"

enum { READ_BYTES = 64 * 1024 };

static const uint32_t events = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
                               IN_MODIFY | IN_CLOSE_WRITE | IN_ONLYDIR;

struct tree {
    pthread_mutex_t lock; /* of what follows; held while a directory comes to be watched */
    struct watched_directories directories;
};

static void tell_full(struct watch *watch)
{
    const struct fs_options *options = &watch->fs->options;
    if (!atomic_exchange(&watch->is_partial, true) && options->log)
        options->log(options->log_user, INDEX_LOG_WARNING,
                     "not all directories can be watched for changes beside the mount: raise "
                     "fs.inotify.max_user_watches; what is missed is seen when it is asked about, "
                     "or by kinfs scan");
}

/* Its first event may be there before its number is known. */
static int watch_directory(void *user, int fd, const struct file_key *directory)
{
    struct watch *watch = user;
    struct tree *tree = watch->state;
    LOCKED(&tree->lock);
    int watch_id = inotify_add_watch(watch->source_fd, proc_path_of(fd).text, events);
    if (watch_id < 0 && errno == ENOSPC)
        tell_full(watch);
    if (watch_id < 0)
        return errno == ENOMEM ? -ENOMEM : 0;
    return watched_directories_put(&tree->directories, watch_id, directory);
}

static int see_event(struct tree *tree, struct watch_batch *batch,
                     const struct inotify_event *event)
{
    if (event->mask & IN_Q_OVERFLOW)
        return -EOVERFLOW;
    if (event->mask & IN_IGNORED) {
        watched_directories_forget(&tree->directories, event->wd);
        return 0;
    }
    const struct watched_directory *directory =
        watched_directories_find(&tree->directories, event->wd);
    if (!directory || !event->len || !*event->name)
        return 0;
    bool still_written = (event->mask & (events & ~(uint32_t)IN_ONLYDIR)) == IN_MODIFY;
    unsigned what = event->mask & IN_CLOSE_WRITE ? SEEN_ENTRY | SEEN_WRITTEN : SEEN_ENTRY;
    return watch_batch_add(batch, &directory->key, event->name,
                           still_written ? SEEN_WRITING : what);
}

/* After a miss the rest is only taken off the queue, but for watches that are gone. */
static int see_events(struct tree *tree, struct watch_batch *batch, const char *bytes,
                      size_t n_bytes, int result)
{
    const struct inotify_event *event;
    LOCKED(&tree->lock);
    for (const char *at = bytes; at < bytes + n_bytes; at += sizeof(*event) + event->len) {
        event = (const void *)at;
        if (result == 0)
            result = see_event(tree, batch, event);
        else if (event->mask & IN_IGNORED)
            watched_directories_forget(&tree->directories, event->wd);
    }
    return result;
}

/* Watches may be gone where the kernel had no room to tell of it: it lists those that are there.
 * Where it cannot be asked, what is kept of the others stays until the end. */
static void forget_the_gone(struct watch *watch)
{
    struct tree *tree = watch->state;
    struct watched_directories living = {0};
    _cleanup_free_ char *line = NULL;
    size_t room = 0;
    char path[64];
    unsigned id;
    int r = 0;
    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", watch->source_fd);
    LOCKED(&tree->lock);
    _cleanup_fclose_ FILE *watches = fopen(path, "re");
    while (r == 0 && watches && getline(&line, &room, watches) > 0) {
        const struct watched_directory *directory =
            sscanf(line, "inotify wd:%x ", &id) == 1
                ? watched_directories_find(&tree->directories, (int)id)
                : NULL;
        if (directory)
            r = watched_directories_put(&living, (int)id, &directory->key);
    }
    if (!watches || r < 0 || ferror(watches)) {
        watched_directories_done(&living);
        return;
    }
    watched_directories_done(&tree->directories);
    tree->directories = living;
}

static int inotify_read(struct watch *watch, struct watch_batch *batch)
{
    _Alignas(struct inotify_event) char buffer[READ_BYTES];
    int result = 0, n_queued_bytes = 0;
    if (ioctl(watch->source_fd, FIONREAD, &n_queued_bytes) < 0)
        return -errno;
    while (n_queued_bytes > 0) {
        ssize_t n_bytes = read(watch->source_fd, buffer, sizeof(buffer));
        if (n_bytes < 0 && errno == EINTR)
            continue;
        if (n_bytes <= 0) {
            if (n_bytes < 0 && errno != EAGAIN)
                return -errno;
            break;
        }
        n_queued_bytes -= (int)n_bytes;
        result = see_events(watch->state, batch, buffer, (size_t)n_bytes, result);
    }
    if (result == -EOVERFLOW)
        forget_the_gone(watch);
    return result;
}

static int inotify_open(struct watch *watch, char **ret_why)
{
    if (!watch->fs->index) {
        if (asprintf(ret_why, "inotify is for the index, which there is none of") < 0)
            *ret_why = NULL;
        return -EOPNOTSUPP;
    }
    watch->source_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch->source_fd < 0) {
        if (asprintf(ret_why, "inotify: %s; raise fs.inotify.max_user_instances", strerror(errno)) <
            0)
            *ret_why = NULL;
        return -EOPNOTSUPP;
    }
    struct tree *tree = calloc(1, sizeof(*tree));
    if (!tree) {
        close_p(&watch->source_fd);
        return -ENOMEM;
    }
    pthread_mutex_init(&tree->lock, NULL);
    watch->state = tree;
    index_see_listings(watch->fs->index, watch_directory, watch);
    return 0;
}

static void inotify_close(struct watch *watch)
{
    struct tree *tree = watch->state;
    index_see_listings(watch->fs->index, NULL, NULL);
    close_p(&watch->source_fd);
    watched_directories_done(&tree->directories);
    pthread_mutex_destroy(&tree->lock);
    free(tree);
}

const struct watch_source watch_inotify = {
    .name = "inotify",
    .open = inotify_open,
    .read = inotify_read,
    .close = inotify_close,
};
