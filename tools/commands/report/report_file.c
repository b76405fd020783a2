#include "tools/commands/report/report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/trust.h"
#include "base/mounts/mount_point.h"
#include "tools/commands/command.h"
#include "tools/documents/regular_file.h"
#include "tools/questions/patience.h"

enum { MARK_BYTES_MOST = 64, USER_MAY = 0600 };

void report_file_done(struct report_file *file)
{
    if (!file->name)
        return;
    if (file->stream)
        fclose(file->stream);
    if (*file->temporary)
        unlinkat(file->directory_fd, file->temporary, 0);
    close_p(&file->directory_fd);
    *file = (struct report_file){.directory_fd = -1};
}

/* An empty file may go, as nothing is in it. Returns 1, 0 or an errno. */
static int has_mark(const struct report_file *file)
{
    char begin[MARK_BYTES_MOST];
    const size_t n = strlen(file->mark);
    _cleanup_close_ int place =
        mount_point_avoid(file->directory_fd, file->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    _cleanup_close_ int fd = place < 0 ? place : regular_file_open_place(place);
    if (fd < 0)
        return fd;
    const ssize_t n_read = pread(fd, begin, n, 0);
    if (n_read < 0)
        return -errno;
    return n_read == 0 || ((size_t)n_read == n && memcmp(begin, file->mark, n) == 0);
}

/* A file system that is mounted on it is not asked. */
static int look_at_old(const struct report_file *file, char **ret_error)
{
    struct statx there;
    int r = mount_point_stat(file->directory_fd, file->name, &there);
    if (r < 0)
        return r == -ENOENT ? 0 : refuse(ret_error, r, "%s: %s", file->path, strerror(-r));
    if (S_ISDIR(there.stx_mode))
        return refuse(ret_error, -EISDIR, "%s: a directory; name a file", file->path);
    const bool is_file = S_ISREG(there.stx_mode);
    r = is_file ? has_mark(file) : 0;
    if (file->force)
        return 0;
    if (!is_file)
        return refuse(ret_error, -EEXIST,
                      "%s: there, and no regular file; name another one, - for standard output, or "
                      "replace it with --force",
                      file->path);
    if (r < 0)
        return refuse(ret_error, r, "%s: there, and cannot be read: %s", file->path, strerror(-r));
    return r ? 0
             : refuse(ret_error, -EEXIST,
                      "%s: there, and not made by this command; name another file, or replace it "
                      "with --force",
                      file->path);
}

static int open_new(struct report_file *file, char **ret_error)
{
    int r = look_at_old(file, ret_error);
    if (r < 0)
        return r;
    _cleanup_close_ int fd = new_file_make(file->directory_fd, ".kinfs-new-", file->temporary);
    if (fd < 0)
        return refuse(ret_error, fd, "%s: cannot be written: %s", file->path, strerror(-fd));
    file->stream = fdopen(fd, "w");
    if (!file->stream)
        return refuse(ret_error, -ENOMEM, "%s: %s", file->path, strerror(ENOMEM));
    (void)TAKE_FD(fd);
    return 0;
}

int report_file_open(const char *path, const char *mark, bool force, struct report_file *ret_file,
                     char **ret_error)
{
    struct report_file file = {.path = path, .mark = mark, .force = force, .directory_fd = -1};
    if (strcmp(path, "-") == 0) {
        file.stream = stdout;
        *ret_file = file;
        return 0;
    }
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *directory =
        !slash ? message(".") : message("%.*s", slash == path ? 1 : (int)(slash - path), path);
    file.name = slash ? slash + 1 : path;
    if (!*file.name || strcmp(file.name, ".") == 0 || strcmp(file.name, "..") == 0)
        return refuse(ret_error, -EISDIR, "%s: a directory; name a file", path);
    patience_look(directory);
    _cleanup_free_ char *why = NULL;
    int r = file.directory_fd = trust_open_anybodys(directory, &why);
    if (r >= 0)
        r = open_new(&file, ret_error);
    else if (why)
        refuse(ret_error, r, "%s", why);
    else
        refuse(ret_error, r, "%s: %s", directory, error_text(r));
    if (r < 0) {
        report_file_done(&file);
        return r;
    }
    *ret_file = file;
    return 0;
}

/* One without a name gets one first: a link takes no other's place. */
static int give_name(struct report_file *file)
{
    const int fd = fileno(file->stream);
    int r = 0;
    if (!*file->temporary) {
        r = new_file_name(".kinfs-new-", file->temporary);
        if (r == 0)
            r = new_file_link(fd, file->directory_fd, file->temporary);
        if (r < 0) {
            *file->temporary = '\0';
            return r;
        }
    }
    if (renameat(file->directory_fd, file->temporary, file->directory_fd, file->name) < 0)
        return -errno;
    *file->temporary = '\0';
    return 0;
}

int report_file_finish(struct report_file *file, char **ret_error)
{
    if (!file->name)
        return 0; /* command_end() says how that went */
    const int fd = fileno(file->stream);
    int r = fflush(file->stream) != 0 ? -errno : 0;
    if (r == 0 && ferror(file->stream)) /* before: what failed then says why when it fails again */
        r = write(fd, "", 1) < 0 ? -errno : -EIO;
    if (r < 0)
        return refuse(ret_error, r, "%s: cannot be written: %s", file->path, strerror(-r));
    r = look_at_old(file, ret_error); /* it may be another by now */
    if (r < 0)
        return r;
    if (fchmod(fd, USER_MAY) < 0 || fsync(fd) < 0)
        return refuse(ret_error, -errno, "%s: cannot be written: %s", file->path, strerror(errno));
    r = give_name(file);
    return r < 0 ? refuse(ret_error, r, "%s: cannot be written: %s", file->path, strerror(-r)) : 0;
}
