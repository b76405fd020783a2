#include "tools/questions/holder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/files/trust.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"
#include "tools/questions/mounts.h"

enum { MAX_BYTES = 64 << 10, POLL_MS = 5 };

static int write_whole(int fd, const char *text)
{
    size_t n = strlen(text);
    ssize_t written = write(fd, text, n);
    return written < 0 ? -errno : (size_t)written < n ? -ENOSPC : 0;
}

int holder_hold(const char *store, const char *command, const char *source, const char *mountpoint,
                int *ret_fd)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    int r = object ? 0 : -ENOMEM;
    if (r == 0)
        json_object_object_add(object, "pid", json_object_new_int(getpid()));
    if (r == 0)
        json_object_object_add(object, "command", json_object_new_string(command));
    if (r == 0)
        r = json_path_add(object, "source", source);
    if (r == 0 && mountpoint)
        r = json_path_add(object, "mountpoint", mountpoint);
    if (r < 0)
        return r;
    /* Written aside: on a full disk what the file said stays. */
    static const char name[] = "holder", new[] = "holder.new";
    _cleanup_close_ int store_fd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (store_fd < 0)
        return -errno;
    _cleanup_close_ int fd = trust_open_file(store_fd, new, O_RDWR | O_CREAT | O_TRUNC, NULL);
    if (fd < 0)
        return fd;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_OFD_SETLK, &lock) < 0)
        r = -errno;
    if (r == 0)
        r = write_whole(fd, json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
    if (r == 0 && renameat(store_fd, new, store_fd, name) < 0)
        r = -errno;
    if (r < 0) {
        unlinkat(store_fd, new, 0);
        return r;
    }
    *ret_fd = TAKE_FD(fd);
    return 0;
}

int holder_make(const char *directory, const char *source, const char *mountpoint, int *ret_fd)
{
    _cleanup_(holder_done) struct holder holder = {0};
    _cleanup_close_ int fd = trust_make_directory(directory, NULL, NULL);
    if (fd < 0)
        return fd;
    if (holder_read(directory, &holder) == 0 && holder.alive)
        return -EBUSY;
    return holder_hold(directory, "mount", source, mountpoint, ret_fd);
}

void holder_let_go(int fd)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (fd >= 0)
        fcntl(fd, F_OFD_SETLK, &lock);
}

void holder_remove(const char *directory)
{
    if (!directory)
        return;
    /* A waiter for the end goes on as soon as the name is gone, and may make it anew. */
    _cleanup_free_ char *gone = message("%s.gone", directory), *file = message("%s/holder", gone);
    if (rename(directory, gone) == 0 && unlink(file) == 0)
        (void)rmdir(gone);
}

int holder_read(const char *store, struct holder *ret_holder)
{
    _cleanup_close_ int store_fd = open(store, O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int fd =
        store_fd < 0 ? -1 : trust_open_file(store_fd, "holder", O_RDONLY, NULL);
    if (fd < 0)
        return -ENOENT;
    _cleanup_free_ char *text = calloc(1, MAX_BYTES);
    if (!text || pread(fd, text, MAX_BYTES - 1, 0) <= 0)
        return -ENOENT;
    _cleanup_json_ struct json_object *object = json_tokener_parse(text);
    if (!json_object_is_type(object, json_type_object))
        return -ENOENT;

    struct holder holder = {0};
    struct json_object *member;
    if (json_object_object_get_ex(object, "pid", &member))
        holder.pid = json_object_get_int(member);
    if (json_path_get(object, "source", &holder.source) < 0 ||
        json_path_get(object, "command", &holder.command) < 0) {
        holder_done(&holder);
        return -ENOENT;
    }
    (void)json_path_get(object, "mountpoint", &holder.mountpoint);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    holder.alive = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
    *ret_holder = holder;
    return 0;
}

void holder_done(struct holder *holder)
{
    free(holder->command);
    free(holder->source);
    free(holder->mountpoint);
    *holder = (struct holder){0};
}

int holder_wait(const char *store, int wait_ms)
{
    /* A lock can be waited for, but not with a bound and without taking it. */
    int pid = 0;
    for (int waited_ms = 0;; waited_ms += POLL_MS) {
        _cleanup_(holder_done) struct holder holder = {0};
        if (holder_read(store, &holder) < 0 || !holder.alive || (pid && pid != holder.pid))
            return 0;
        pid = holder.pid;
        if (waited_ms >= wait_ms)
            return -ETIMEDOUT;
        nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
}

bool holder_is_mounted(const struct holder *holder)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    return holder->mountpoint && (mounts_read(NULL, &mounts) < 0 ||
                                  mount_is_trusted(mounts_at(&mounts, holder->mountpoint)));
}

char *holder_describe(const struct holder *holder)
{
    if (holder_is_mounted(holder))
        return message("mounted on %s (process %d)", holder->mountpoint, holder->pid);
    if (holder->mountpoint)
        return message("in use by those who still have files of what was mounted on %s, or have it "
                       "mounted elsewhere (process %d)",
                       holder->mountpoint, holder->pid);
    return message("in use by kinfs %s (process %d)", holder->command, holder->pid);
}

char *holder_remedy(const struct holder *holder)
{
    if (holder_is_mounted(holder))
        return message("unmount it first with kinfs umount %s", holder->mountpoint);
    if (holder->mountpoint)
        return message("end them first, or all of it with kill %d", holder->pid);
    return message("try again when that is done");
}
