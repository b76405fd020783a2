/* fanotify(7): every change on the tree's file system, by file handle, so that it does not matter
 * by which name or mount a file was reached. Needs CAP_SYS_ADMIN and Linux 5.17 (FAN_RENAME, and
 * the handle of what a name means).
 *
 * The kernel knows from the replies what this process itself did; but attributes that changed on
 * the way (suid bits taken away by a write) it does not know, and what it asked before it may take
 * for what was so after (fs/watch/watch_kernel.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "fs/watch/watch_private.h"

/* Newer than some C libraries. */
#ifndef FAN_REPORT_TARGET_FID
#define FAN_REPORT_TARGET_FID 0x1000
#endif
#ifndef FAN_RENAME
#define FAN_RENAME 0x10000000
#define FAN_EVENT_INFO_TYPE_OLD_DFID_NAME 10
#define FAN_EVENT_INFO_TYPE_NEW_DFID_NAME 12
#endif

enum { READ_BYTES = 64 * 1024 };

static const unsigned init_flags = FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK |
                                   FAN_UNLIMITED_QUEUE | FAN_REPORT_FID | FAN_REPORT_DIR_FID |
                                   FAN_REPORT_NAME | FAN_REPORT_TARGET_FID;
static const uint64_t events =
    FAN_CREATE | FAN_DELETE | FAN_RENAME | FAN_ATTRIB | FAN_MODIFY | FAN_CLOSE_WRITE | FAN_ONDIR;

/* Those that tell of size and times alone: what writing does to mode or owner is an event of its
 * own. */
static const uint64_t content_events = FAN_MODIFY | FAN_CLOSE_WRITE;

static const uint64_t name_events = FAN_CREATE | FAN_DELETE | FAN_RENAME;

/* File systems of which nobody but this kernel changes anything. */
static bool is_local(long type)
{
    /* As numbers in statfs(2); <linux/magic.h> has not all. */
    enum { XFS = 0x58465342 };
    switch ((unsigned)type) {
    case EXT4_SUPER_MAGIC:
    case XFS:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
    case RAMFS_MAGIC: return true;
    default: return false;
    }
}

static int refuse_source(int error, char **ret_why, const char *why)
{
    if (asprintf(ret_why, "fanotify %s", why) < 0)
        *ret_why = NULL;
    return error;
}

static int mark(struct watch *watch, int fd)
{
    return fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, events,
                         backing_root_fd(watch->fs->backing), NULL);
}

static int fanotify_open(struct watch *watch, char **ret_why)
{
    struct backing *backing = watch->fs->backing;
    struct statfs st;
    if (!backing_has_handles(backing))
        return refuse_source(-EOPNOTSUPP, ret_why, "needs files that can be opened by handle");
    if (fstatfs(backing_root_fd(backing), &st) < 0)
        return -errno;
    if (!is_local(st.f_type))
        return refuse_source(-EOPNOTSUPP, ret_why,
                             "does not see what other machines, or layers below, change on this "
                             "file system");
    _cleanup_close_ int fd = fanotify_init(init_flags, O_RDONLY);
    if (fd < 0 && errno == EPERM)
        return refuse_source(-EOPNOTSUPP, ret_why, "needs CAP_SYS_ADMIN");
    if (fd < 0)
        return refuse_source(-EOPNOTSUPP, ret_why,
                             errno == EINVAL ? "needs Linux 5.17" : strerror(errno));
    if (mark(watch, fd) < 0)
        return refuse_source(-EOPNOTSUPP, ret_why,
                             errno == EXDEV ? "cannot watch one subvolume" : strerror(errno));
    watch->source_fd = TAKE_FD(fd);
    return 0;
}

/* Another queue takes the place of the one there is, of which nothing is read any more; what comes
 * meanwhile is in both. False: there is none to be had now. */
static bool begin_anew(struct watch *watch)
{
    _cleanup_close_ int fd = fanotify_init(init_flags, O_RDONLY);
    return fd >= 0 && mark(watch, fd) == 0 && dup3(fd, watch->source_fd, O_CLOEXEC) >= 0;
}

static void fanotify_close(struct watch *watch)
{
    close_p(&watch->source_fd);
}

/* The place that an event is about. */
struct place {
    bool known;
    struct file_key key;
    const char *name;
};

/* The places of an event: by the type of their records. */
struct event {
    struct place inode, entry, old_entry, new_entry;
};

/* A record's handle, and name, which have to lie inside it. */
static int read_place(struct watch *watch, const char *record, size_t size, bool with_name,
                      struct place *ret_place)
{
    const size_t head = offsetof(struct fanotify_event_info_fid, handle);
    struct file_handle handle;
    if (size < head + sizeof(handle))
        return -EPROTO;
    memcpy(&handle, record + head, sizeof(handle));
    const char *bytes = record + head + sizeof(handle);
    size_t room = size - head - sizeof(handle);
    if (!handle.handle_bytes) /* it could not be told */
        return -EPROTO;
    if (handle.handle_bytes > room ||
        handle.handle_bytes > FILE_KEY_MAX_BYTES - FILE_KEY_MIN_BYTES ||
        (with_name && !memchr(bytes + handle.handle_bytes, '\0', room - handle.handle_bytes)))
        return -EPROTO;
    struct place place = {.known = true, .name = with_name ? bytes + handle.handle_bytes : ""};
    file_key_of_handle(get_be64(backing_root_key(watch->fs->backing)->bytes),
                       (uint32_t)handle.handle_type, bytes, handle.handle_bytes, &place.key);
    *ret_place = place;
    return 0;
}

static int read_event(struct watch *watch, const char *bytes,
                      const struct fanotify_event_metadata *meta, struct event *ret_event)
{
    struct event event = {0};
    const char *at = bytes + meta->metadata_len;
    const char *end = bytes + meta->event_len;
    while (at < end) {
        struct fanotify_event_info_header header;
        if ((size_t)(end - at) < sizeof(header))
            return -EPROTO;
        memcpy(&header, at, sizeof(header));
        if (header.len < sizeof(header) || header.len > end - at)
            return -EPROTO;
        int r = 0;
        switch (header.info_type) {
        case FAN_EVENT_INFO_TYPE_FID:
        case FAN_EVENT_INFO_TYPE_DFID:
            r = read_place(watch, at, header.len, false, &event.inode);
            break;
        case FAN_EVENT_INFO_TYPE_DFID_NAME:
            r = read_place(watch, at, header.len, true, &event.entry);
            break;
        case FAN_EVENT_INFO_TYPE_OLD_DFID_NAME:
            r = read_place(watch, at, header.len, true, &event.old_entry);
            break;
        case FAN_EVENT_INFO_TYPE_NEW_DFID_NAME:
            r = read_place(watch, at, header.len, true, &event.new_entry);
            break;
        default: break;
        }
        if (r < 0)
            return r;
        at += header.len;
    }
    /* A directory's event of its own names it "." and has no second record. */
    if (!event.inode.known && event.entry.known && strcmp(event.entry.name, ".") == 0)
        event.inode = (struct place){.known = true, .key = event.entry.key, .name = ""};
    *ret_event = event;
    return 0;
}

static int see_entry(struct watch_batch *batch, const struct place *place)
{
    if (!place->known)
        return 0;
    int r = watch_batch_add(batch, &place->key, NULL, SEEN_ATTRIBUTES);
    return r < 0 ? r : watch_batch_add(batch, &place->key, place->name, SEEN_ENTRY);
}

/* A change of names that this process made itself. */
static int see_own_names(struct watch *watch, struct watch_batch *batch, const struct event *event,
                         uint64_t mask)
{
    const bool moved = mask & FAN_RENAME;
    const struct place *directories[] = {mask & (FAN_CREATE | FAN_DELETE) ? &event->entry : NULL,
                                         moved ? &event->old_entry : NULL,
                                         moved ? &event->new_entry : NULL};
    int r = 0;
    for (size_t i = 0; i < 3 && r == 0; i++)
        if (directories[i] && directories[i]->known)
            r = watch_batch_add(batch, &directories[i]->key, NULL, SEEN_CROSSED);
    if (r == 0 && moved && event->inode.known)
        r = watch_batch_add(batch, &event->inode.key, NULL, SEEN_CROSSED);
    if (r == 0 && moved && event->old_entry.known && event->new_entry.known)
        r = watch_moves_see(watch, batch, &event->old_entry.key, event->old_entry.name,
                            &event->new_entry.key, event->new_entry.name);
    return r;
}

/* Attributes of which replies may not have told. */
static int see_own(struct watch *watch, struct watch_batch *batch, const struct event *event,
                   uint64_t mask)
{
    int r = 0;
    if (mask & FAN_ATTRIB && event->inode.known)
        r = watch_batch_add(batch, &event->inode.key, NULL, SEEN_OWN);
    return r == 0 && mask & name_events ? see_own_names(watch, batch, event, mask) : r;
}

static int see_event(struct watch *watch, struct watch_batch *batch, const char *bytes,
                     const struct fanotify_event_metadata *meta, pid_t self)
{
    struct event event;
    bool own = meta->pid == self;
    if (meta->mask & FAN_Q_OVERFLOW)
        return -EOVERFLOW;
    if (own && !(meta->mask & (FAN_ATTRIB | name_events)))
        return 0;
    int r = read_event(watch, bytes, meta, &event);
    if (r < 0)
        return r;
    if (own)
        return see_own(watch, batch, &event, meta->mask);
    unsigned what = meta->mask & ~content_events ? SEEN_ATTRIBUTES : SEEN_CONTENT;
    if (meta->mask & FAN_MODIFY)
        what |= SEEN_WRITING;
    if (!(meta->mask & FAN_ONDIR) && meta->mask & (FAN_CLOSE_WRITE | FAN_ATTRIB))
        what |= SEEN_WRITTEN;
    if (event.inode.known)
        r = watch_batch_add(batch, &event.inode.key, NULL, what);
    if (r == 0 && meta->mask & (FAN_CREATE | FAN_DELETE))
        r = see_entry(batch, &event.entry);
    if (r == 0 && meta->mask & FAN_RENAME)
        r = see_entry(batch, &event.old_entry);
    if (r == 0 && meta->mask & FAN_RENAME)
        r = see_entry(batch, &event.new_entry);
    return r;
}

/* Events follow each other at multiples of four: what they hold is copied out. */
static int read_events(struct watch *watch, struct watch_batch *batch, const char *bytes,
                       size_t n_bytes, int result, size_t *n_events)
{
    struct fanotify_event_metadata meta;
    pid_t self = getpid();
    for (size_t at = 0; at < n_bytes; at += meta.event_len, (*n_events)++) {
        if (n_bytes - at < sizeof(meta))
            return -EPROTO;
        memcpy(&meta, bytes + at, sizeof(meta));
        if (meta.vers != FANOTIFY_METADATA_VERSION || meta.event_len < sizeof(meta) ||
            meta.event_len > n_bytes - at || meta.metadata_len > meta.event_len)
            return -EPROTO;
        /* After a miss all is looked at anew: the rest is only taken off the queue. */
        if (result == 0)
            result = see_event(watch, batch, bytes + at, &meta, self);
    }
    return result;
}

static int fanotify_read(struct watch *watch, struct watch_batch *batch)
{
    char buffer[READ_BYTES];
    int result = 0, n_queued_bytes = 0; /* without what follows the head of each */
    size_t n_read = 0;
    if (ioctl(watch->source_fd, FIONREAD, &n_queued_bytes) < 0)
        return -errno;
    const size_t n_queued = (unsigned)n_queued_bytes / FAN_EVENT_METADATA_LEN;
    if (n_queued > WATCH_QUEUED_MAX && begin_anew(watch))
        return -EOVERFLOW;
    while (n_read < n_queued) {
        ssize_t n_bytes = read(watch->source_fd, buffer, sizeof(buffer));
        if (n_bytes < 0 && errno == EINTR)
            continue;
        if (n_bytes <= 0)
            return n_bytes < 0 && errno != EAGAIN ? -errno : result;
        result = read_events(watch, batch, buffer, (size_t)n_bytes, result, &n_read);
    }
    return result;
}

const struct watch_source watch_fanotify = {
    .name = "fanotify",
    .sees_all = true,
    .open = fanotify_open,
    .read = fanotify_read,
    .close = fanotify_close,
};
