#include "tools/question.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fd_read.h"
#include "tools/holder.h"
#include "tools/json_path.h"
#include "tools/message.h"
#include "tools/mounts.h"

static char *if_it_answers(const char *mountpoint)
{
    _cleanup_free_ char *directory = message("%s/.kinfs/query", mountpoint);
    return access(directory, F_OK) == 0 ? message("%s", mountpoint) : NULL;
}

char *question_mountpoint(const char *path)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    const struct mount *mount;
    if (mounts_read(NULL, &mounts) < 0 || mounts_of(&mounts, path ? path : ".", &mount) < 0)
        return NULL;
    return mount_is_trusted(mount) ? if_it_answers(mount->point) : NULL;
}

char *question_mountpoint_of_store(const char *store)
{
    _cleanup_(holder_done) struct holder holder = {0};
    if (holder_read(store, &holder) < 0 || !holder.alive || !holder.mountpoint ||
        !holder_is_mounted(&holder))
        return NULL;
    return if_it_answers(holder.mountpoint);
}

/* Returns 0, or the errno of which side failed: *ret_writing. */
static int copy(int from, int to, bool *ret_writing)
{
    enum { BLOCK_BYTES = 128 * 1024 };
    _cleanup_free_ char *block = malloc(BLOCK_BYTES);
    *ret_writing = false;
    if (!block)
        return -ENOMEM;
    for (;;) {
        ssize_t n = fd_read(from, block, BLOCK_BYTES);
        if (n <= 0)
            return (int)n;
        *ret_writing = true;
        for (ssize_t at = 0; at < n;) {
            ssize_t put = write(to, block + at, (size_t)(n - at));
            if (put < 0 && errno != EINTR)
                return -errno;
            at += put > 0 ? put : 0;
        }
        *ret_writing = false;
    }
}

int question_make_seekable(int *fd)
{
    bool writing;
    if (lseek(*fd, 0, SEEK_CUR) >= 0)
        return 0;
    const char *directory = getenv("TMPDIR");
    _cleanup_close_ int copied =
        open(directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (copied < 0)
        copied = memfd_create("kinfs-document", MFD_CLOEXEC);
    if (copied < 0)
        return -errno;
    int r = copy(*fd, copied, &writing);
    if (r == 0 && lseek(copied, 0, SEEK_SET) < 0)
        r = -errno;
    if (r < 0)
        return r;
    close(*fd);
    *fd = TAKE_FD(copied);
    return 0;
}

struct json_object *question_row(const struct kin *kin)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    if (!object || json_path_add(object, "path", kin->path) < 0)
        return NULL;
    work_add_ratio(object, "resemblance", kin->resemblance);
    work_add_ratio(object, "error", kin->error);
    work_add_ratio(object, "containment", kin->containment);
    work_add_count(object, "containment_samples", kin->containment_samples);
    json_object_object_add(object, "exact", json_object_new_boolean(kin->exact));
    return TAKE_PTR(object);
}

/* The next of a record's numbers, NAN for "-"; or, and *record NULL, what is none. */
static double take_number(char **record)
{
    char *field = strsep(record, "\t"), *end;
    if (!field || strcmp(field, "-") == 0)
        return NAN;
    double value = strtod(field, &end);
    if (end == field || *end)
        *record = NULL;
    return value;
}

/* As view_question.h has it. record is taken apart. Returns 0, what row returned, or -EPROTO. */
static int take_record(char *record, row_fn row, void *user)
{
    struct kin kin = {.resemblance = take_number(&record)};
    kin.error = take_number(&record);
    kin.containment = take_number(&record);
    kin.containment_samples = (uint32_t)take_number(&record);
    const char *exact = strsep(&record, "\t");
    if (!exact || !record)
        return -EPROTO;
    kin.exact = strcmp(exact, "exact") == 0;
    kin.path = record;
    return row(user, question_row(&kin));
}

static int read_answer(int fd, char **ret_text, size_t *ret_n_bytes)
{
    enum { PIECE_BYTES = 64 * 1024 };
    _cleanup_free_ char *text = NULL;
    size_t n_bytes = 0;
    for (;;) {
        char *larger = realloc(text, n_bytes + PIECE_BYTES);
        if (!larger)
            return -ENOMEM;
        text = larger;
        /* Stopped, and continued: the question still stands. */
        ssize_t n = fd_read(fd, text + n_bytes, PIECE_BYTES);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        n_bytes += (size_t)n;
    }
    *ret_text = TAKE_PTR(text);
    *ret_n_bytes = n_bytes;
    return 0;
}

static int take_answer(int fd, row_fn row, void *user)
{
    _cleanup_free_ char *text = NULL;
    size_t n_bytes = 0;
    int r = read_answer(fd, &text, &n_bytes);
    for (size_t at = 0, n; r == 0 && at < n_bytes; at += n + 1) {
        n = strnlen(text + at, n_bytes - at);
        r = at + n < n_bytes ? take_record(text + at, row, user) : -EPROTO;
    }
    return r;
}

int question_ask(const struct question *question, row_fn row, void *user, char **ret_error)
{
    const char *shown = question->shown;
    _cleanup_free_ char *path = message(
        "%s/.kinfs/query/document,records,threshold=%.17g,limit=%zu%s", question->mountpoint,
        question->threshold, question->limit, question->containing ? ",containing" : "");
    _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    bool writing;
    if (fd < 0)
        return refuse(ret_error, -errno, "%s: cannot be asked: %s", question->mountpoint,
                      strerror(errno));
    /* By now another may be mounted there. */
    if (!mount_of_file_is_trusted(fd))
        return refuse(ret_error, -EACCES,
                      "%s: this mount is another user's, and is not asked; ask as that user",
                      question->mountpoint);
    int r = copy(question->document, fd, &writing);
    if (r < 0 && writing)
        return refuse(ret_error, r, "%s: takes no more of %s: %s", question->mountpoint, shown,
                      strerror(-r));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", shown, strerror(-r));
    if (lseek(fd, 0, SEEK_SET) < 0)
        return refuse(ret_error, -errno, "%s: %s", question->mountpoint, strerror(errno));
    r = take_answer(fd, row, user);
    if (r == -EBADMSG)
        return refuse(ret_error, r, "%s: cannot be sketched: its extractor failed", shown);
    return r < 0 ? refuse(ret_error, r, "%s: %s", shown, error_text(r)) : 0;
}
