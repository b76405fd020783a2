/* inotify(7): changes made by way of the directories of the tree, each of which is watched; for the
 * index alone (fs/watch/watch.h). Needs no privileges.
 *
 * An event names a directory's watch and a name in it. What is noted is that name: the index looks
 * what it means now. A directory that comes to be is watched first and then listed, so that nothing
 * in it is missed; what is already noted does no harm.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/mounts/mount_point.h"
#include "base/proc_path.h"
#include "base/room.h"
#include "fs/watch/watch_private.h"
#include "fs/watch/watched_directories.h"

enum { READ_BYTES = 64 * 1024 };

static const uint32_t events = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
                               IN_MODIFY | IN_CLOSE_WRITE | IN_ONLYDIR;

struct tree {
    struct watched_directories directories;
    int *unlisted; /* watches of directories still to be listed */
    size_t n_unlisted, max_unlisted;
    bool full_told;
};

/* The path relative to the root, by what is known. -ENOENT when it hangs on nothing. */
static int path_of(const struct tree *tree, int watch_id, char path[PATH_MAX])
{
    char *at = path + PATH_MAX - 1;
    *at = '\0';
    for (int steps = 0; steps < PATH_MAX / 2; steps++) {
        const struct watched_directory *directory =
            watched_directories_find(&tree->directories, watch_id);
        if (!directory)
            return -ENOENT;
        if (directory->parent < 0) {
            memmove(path, *at ? at + 1 : ".", *at ? strlen(at) : 2);
            return 0;
        }
        size_t size = strlen(directory->name);
        if ((size_t)(at - path) < size + 1)
            return -ENAMETOOLONG;
        at -= size;
        memcpy(at, directory->name, size);
        *--at = '/';
        watch_id = directory->parent;
    }
    return -ELOOP;
}

/* Nothing on another mount, and nothing by way of a link; its access time stays where it may. */
static int open_directory(struct watch *watch, const char *path)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOATIME,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV};
    int root_fd = backing_root_fd(watch->fs->backing);
    int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    how.flags &= ~(unsigned)O_NOATIME;
    if (fd < 0 && errno == EPERM)
        fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
    return fd < 0 ? -errno : fd;
}

static int list_later(struct tree *tree, int watch_id)
{
    if (!MAKE_ROOM(tree->unlisted, tree->max_unlisted, tree->n_unlisted + 1))
        return -ENOMEM;
    tree->unlisted[tree->n_unlisted++] = watch_id;
    return 0;
}

static void tell_full(struct watch *watch)
{
    struct tree *tree = watch->state;
    const struct fs_options *options = &watch->fs->options;
    atomic_store(&watch->is_partial, true);
    if (!tree->full_told && options->log)
        options->log(options->log_user, INDEX_LOG_WARNING,
                     "not all directories can be watched for changes beside the mount: raise "
                     "fs.inotify.max_user_watches; what is missed is seen when it is asked about, "
                     "or by kinfs scan");
    tree->full_told = true;
}

/* Watch a directory, and have it listed. What cannot be opened is not for us, or gone. */
static int add_directory(struct watch *watch, int parent, const char *name)
{
    struct tree *tree = watch->state;
    char path[PATH_MAX];
    struct file_key key;
    if (parent < 0)
        strcpy(path, ".");
    else if (path_of(tree, parent, path) < 0 || strlen(path) + strlen(name) + 2 > sizeof(path))
        return 0;
    if (parent >= 0)
        strcat(strcat(path, "/"), name);
    _cleanup_close_ int fd = open_directory(watch, path);
    if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
        return fd;
    if (fd < 0 || backing_key_at(watch->fs->backing, fd, "", &key) < 0 ||
        (watch->fs->store_key.size_bytes && file_key_equal(&key, &watch->fs->store_key)))
        return 0;
    int watch_id = inotify_add_watch(watch->source_fd, proc_path_of(fd).text, events);
    if (watch_id < 0 && errno == ENOSPC) {
        tell_full(watch);
        return 0;
    }
    if (watch_id < 0)
        return errno == ENOMEM ? -ENOMEM : 0;
    int r = watched_directories_put(&tree->directories, watch_id, parent, name, &key);
    return r < 0 ? r : list_later(tree, watch_id);
}

static bool is_directory(int fd, const struct dirent *entry)
{
    struct statx st;
    return entry->d_type == DT_DIR ||
           (entry->d_type == DT_UNKNOWN && mount_point_stat(fd, entry->d_name, &st) == 0 &&
            S_ISDIR(st.stx_mode));
}

/* batch  NULL, or takes all names: they may have come before the watch */
static int list_directory(struct watch *watch, int watch_id, struct watch_batch *batch)
{
    struct tree *tree = watch->state;
    const struct watched_directory *directory =
        watched_directories_find(&tree->directories, watch_id);
    char path[PATH_MAX];
    if (!directory || path_of(tree, watch_id, path) < 0)
        return 0;
    struct file_key key = directory->key;
    int fd = open_directory(watch, path);
    if (fd < 0)
        return fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM ? fd : 0;
    _cleanup_closedir_ DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return -ENOMEM;
    }
    int r = 0;
    for (struct dirent *entry; r == 0 && !watch->stop && (entry = readdir(dir));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (batch)
            r = watch_batch_add(batch, &key, entry->d_name, SEEN_ENTRY);
        if (r == 0 && is_directory(fd, entry))
            r = add_directory(watch, watch_id, entry->d_name);
    }
    return r;
}

static int list_all(struct watch *watch, struct watch_batch *batch)
{
    struct tree *tree = watch->state;
    int r = 0;
    while (r == 0 && tree->n_unlisted && !watch->stop)
        r = list_directory(watch, tree->unlisted[--tree->n_unlisted], batch);
    tree->n_unlisted = 0;
    return r;
}

/* All there is, from the root. Whoever calls has the tree scanned after it. */
static int add_tree(struct watch *watch)
{
    int r = add_directory(watch, -1, "");
    return r < 0 ? r : list_all(watch, NULL);
}

static int see_event(struct watch *watch, struct watch_batch *batch,
                     const struct inotify_event *event)
{
    struct tree *tree = watch->state;
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
    int r = watch_batch_add(batch, &directory->key, event->name,
                            still_written ? SEEN_WRITING : SEEN_ENTRY);
    if (r == 0 && event->mask & IN_ISDIR && event->mask & (IN_CREATE | IN_MOVED_TO))
        r = add_directory(watch, event->wd, event->name);
    return r < 0 ? r : list_all(watch, batch);
}

static int inotify_read(struct watch *watch, struct watch_batch *batch)
{
    _Alignas(struct inotify_event) char buffer[READ_BYTES];
    struct tree *tree = watch->state;
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
        const struct inotify_event *event;
        for (const char *at = buffer; at < buffer + n_bytes; at += sizeof(*event) + event->len) {
            event = (const void *)at;
            if (result == 0)
                result = see_event(watch, batch, event);
            else if (event->mask & IN_IGNORED)
                watched_directories_forget(&tree->directories, event->wd);
        }
    }
    if (result < 0) /* directories may have been missed too */
        add_tree(watch);
    return result;
}

static int inotify_begin(struct watch *watch)
{
    int r = add_tree(watch);
    return r < 0 ? r : -EOVERFLOW; /* what changed before is for a scan */
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
    watch->state = calloc(1, sizeof(struct tree));
    return watch->state ? 0 : -ENOMEM;
}

static void inotify_close(struct watch *watch)
{
    struct tree *tree = watch->state;
    close_p(&watch->source_fd);
    watched_directories_done(&tree->directories);
    free(tree->unlisted);
    free(tree);
}

const struct watch_source watch_inotify = {
    .name = "inotify",
    .open = inotify_open,
    .begin = inotify_begin,
    .read = inotify_read,
    .close = inotify_close,
};
