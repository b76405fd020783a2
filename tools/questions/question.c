#include "tools/questions/question.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/fd_read.h"
#include "base/open_at.h"
#include "base/files/unlocked_read.h"
#include "base/files/trust.h"
#include "base/files/unnamed_file.h"
#include "base/room.h"
#include "tools/questions/holder.h"
#include "tools/show/json_path.h"
#include "tools/show/message.h"
#include "tools/questions/mounts.h"
#include "tools/questions/patience.h"

enum { QUESTION_COMMON_MAX = 1 << 20 }; /* pairs: a document has fewer fingerprints */

/* The directory in which a mount takes questions: the name is the daemon's in the root of the file
 * system, and the tree's in any other directory that somebody has mounted elsewhere (mount --bind).
 * What others have put in the way, or mounted there, is refused. */
static int open_query(const struct mount *mount)
{
    if (strcmp(mount->root, "/") != 0)
        return -ENOENT;
    _cleanup_close_ int top = mount_open_top(mount);
    if (top < 0)
        return top;
    return open_at(top, ".kinfs/query", O_PATH | O_DIRECTORY | O_CLOEXEC, RESOLVE_IN_TREE);
}

static char *if_it_answers(const struct mount *mount)
{
    if (!mount_is_trusted(mount))
        return NULL;
    patience_look(mount->point);
    _cleanup_close_ int query = open_query(mount);
    return query >= 0 ? message("%s", mount->point) : NULL;
}

/* Begin a question; its name is found by nobody. */
static int open_question(const struct mount *mount, const char *name)
{
    _cleanup_close_ int query = open_query(mount);
    if (query < 0)
        return query;
    int fd = openat(query, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

char *question_mountpoint(const char *path)
{
    _cleanup_(mounts_done) struct mounts mounts = {0};
    const struct mount *mount;
    path = path ? path : ".";
    patience_look(path);
    _cleanup_close_ int fd = trust_open_anywhere(path, NULL);
    if (fd < 0 || mounts_read(NULL, &mounts) < 0 || mounts_of_open(&mounts, fd, &mount) < 0)
        return NULL;
    return if_it_answers(mount);
}

char *question_mountpoint_of_store(const char *store)
{
    _cleanup_(holder_done) struct holder holder = {0};
    _cleanup_(mounts_done) struct mounts mounts = {0};
    if (holder_read(store, &holder) < 0 || !holder.alive || !holder.mountpoint ||
        mounts_read(NULL, &mounts) < 0)
        return NULL;
    return if_it_answers(mounts_at(&mounts, holder.mountpoint));
}

enum { BLOCK_BYTES = 128 * 1024 };

static ssize_t read_block(int from, char *block, off_t offset)
{
    ssize_t n = unlocked_read(from, block, BLOCK_BYTES, offset);
    return n == -ESPIPE ? fd_read(from, block, BLOCK_BYTES) : n;
}

/* Returns 0, or the errno of which side failed: *ret_writing. */
static int copy(int from, int to, bool *ret_writing)
{
    _cleanup_free_ char *block = malloc(BLOCK_BYTES);
    *ret_writing = false;
    if (!block)
        return -ENOMEM;
    for (off_t offset = 0;;) {
        ssize_t n = read_block(from, block, offset);
        if (n <= 0)
            return (int)n;
        offset += n;
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
    _cleanup_close_ int copied = unnamed_file_make_temporary();
    if (copied < 0)
        return copied;
    int r = copy(*fd, copied, &writing);
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

struct json_object *question_passages_row(const struct kin *kin)
{
    _cleanup_json_ struct json_object *object = json_object_new_object();
    if (!object || json_path_add(object, "path", kin->path) < 0)
        return NULL;
    work_add_count(object, "words", kin->shared_words);
    work_add_count(object, "longest", kin->longest_passage);
    work_add_ratio(object, "containment", kin->containment);
    return TAKE_PTR(object);
}

struct json_object *question_common_row(const struct kin_list *list)
{
    struct json_object *object = json_object_new_object(), *common = json_object_new_array();
    work_add_count(object, "n_words", list->n_words);
    for (size_t i = 0; i < list->n_common; i++) {
        json_object_array_add(common, json_object_new_uint64(list->common[i].first));
        json_object_array_add(common, json_object_new_uint64(list->common[i].end));
    }
    json_object_object_add(object, "common", common);
    return object;
}

struct json_object *question_incomplete_row(const char *why)
{
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "incomplete", json_object_new_string(why));
    return object;
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

static uint64_t take_count(char **record)
{
    char *field = strsep(record, "\t"), *end;
    errno = 0;
    const uint64_t n = field ? strtoull(field, &end, 10) : 0;
    if (!field || end == field || *end || errno)
        *record = NULL;
    return n;
}

/* The words of a document that are common text: its number of words, then pairs. */
static int take_common(char *record, row_fn row, void *user)
{
    _cleanup_(kin_list_done) struct kin_list list = {.n_words = take_count(&record)};
    size_t room = 0;
    while (record && list.n_common < QUESTION_COMMON_MAX) {
        struct index_words words = {.first = take_count(&record)};
        if (!record)
            return -EPROTO;
        words.end = take_count(&record);
        if (!MAKE_ROOM(list.common, room, list.n_common + 1))
            return -ENOMEM;
        list.common[list.n_common++] = words;
    }
    return record ? -EPROTO : row(user, question_common_row(&list));
}

static int take_passages(char *record, row_fn row, void *user)
{
    struct kin kin = {.longest_passage = take_count(&record)};
    kin.shared_words = take_count(&record);
    kin.containment = take_number(&record);
    if (!record)
        return -EPROTO;
    kin.path = record;
    return row(user, question_passages_row(&kin));
}

/* As view_question.h has it. record is taken apart. Returns 0, what row returned, or -EPROTO. */
static int take_record(char *record, row_fn row, void *user)
{
    static const char incomplete[] = "incomplete\t", common[] = "common\t",
                      passages[] = "passages\t";
    if (strncmp(record, incomplete, strlen(incomplete)) == 0)
        return row(user, question_incomplete_row(record + strlen(incomplete)));
    if (strncmp(record, common, strlen(common)) == 0)
        return take_common(record + strlen(common), row, user);
    if (strncmp(record, passages, strlen(passages)) == 0)
        return take_passages(record + strlen(passages), row, user);
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
    _cleanup_(mounts_done) struct mounts mounts = {0};
    static const char *const relations[] = {[INDEX_RESEMBLES] = "",
                                            [INDEX_WHOLES] = ",containing",
                                            [INDEX_PARTS] = ",contained",
                                            [INDEX_SHARES] = ",passages",
                                            [INDEX_RELATED] = ",related"};
    _cleanup_free_ char *name =
        message("document,records,threshold=%.17g,limit=%zu%s", question->threshold,
                question->limit, relations[question->relation]);
    _cleanup_free_ char *of_passages = message("%s,common=%zu", name, question->common);
    bool writing;
    int r = mounts_read(NULL, &mounts);
    const struct mount *mount = r < 0 ? NULL : mounts_at(&mounts, question->mountpoint);
    /* By now another may be mounted there. */
    if (r == 0 && mount && !mount_is_trusted(mount))
        return refuse(ret_error, -EACCES,
                      "%s: this mount is another user's, and is not asked; ask as that user",
                      question->mountpoint);
    if (r == 0)
        r = mount ? open_question(mount, question->common ? of_passages : name) : -EBUSY;
    if (r == -EBUSY)
        return refuse(ret_error, r, "%s: somebody has unmounted, moved or covered it meanwhile",
                      question->mountpoint);
    if (r < 0)
        return refuse(ret_error, r, "%s: cannot be asked: %s", question->mountpoint, strerror(-r));
    _cleanup_close_ int fd = r;
    r = copy(question->document, fd, &writing);
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
    const bool is_related = question->relation == INDEX_RELATED;
    if (r == -EOPNOTSUPP)
        return refuse(ret_error, r, "%s: %s", question->mountpoint,
                      is_related ? QUESTION_NO_TOPICS : QUESTION_NO_PASSAGES);
    if (r == -EACCES && is_related)
        return refuse(ret_error, r, "%s: " QUESTION_NOT_ALL, question->mountpoint);
    return r < 0 ? refuse(ret_error, r, "%s: %s", shown, error_text(r)) : 0;
}
