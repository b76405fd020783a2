#include "engine/index/intake/open_soon.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/open_at.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/open_key.h"

enum {
    FILE_WAIT_US = 100000,
    /* The time that a disk takes for an inode costs a question nothing, nor is it refused that. */
    INODE_WAIT_US = 50000,
};

struct opening {
    struct look look;
    struct index *index;
    struct file_key key;
    char *path; /* owned; NULL: it is opened by its key */
    int flags;
    int result; /* a descriptor, too; owned */
};

static int open_path(const struct index *index, const char *path, int flags, uint64_t resolve)
{
    return open_at(backing_root_fd(index->backing), path,
                   (uint64_t)flags | O_PATH | O_NOFOLLOW | O_CLOEXEC, RESOLVE_IN_TREE | resolve);
}

static int open_file(const struct index *index, const struct file_key *file, int flags)
{
    const int leaving = flags & O_PATH ? 0 : O_NOATIME;
    const int fd = backing_open_key(index->backing, file, flags | leaving);
    return fd == -EPERM && leaving ? backing_open_key(index->backing, file, flags) : fd;
}

static void do_opening(struct look *look)
{
    struct opening *opening = (struct opening *)look;
    if (opening->path)
        opening->result = open_path(opening->index, opening->path, 0, 0);
    else if (opening->flags & O_DIRECTORY)
        opening->result = open_key(opening->index, &opening->key, opening->flags);
    else
        opening->result = open_file(opening->index, &opening->key, opening->flags);
}

static void opening_free(struct look *look)
{
    struct opening *opening = (struct opening *)look;
    close_p(&opening->result);
    free(opening->path);
    free(opening);
}

/* Where the kernel would have to look itself, or another directory has the path: -EAGAIN. */
static int open_known(struct index *index, const struct file_key *directory)
{
    const struct file_key *root = backing_root_key(index->backing);
    _cleanup_free_ char *path = NULL;
    struct file_key found;
    if (catalogue_path(index->kv, root, directory, &path) < 0)
        return -EAGAIN;
    _cleanup_close_ int fd =
        open_at(backing_root_fd(index->backing), *path ? path : ".",
                O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, RESOLVE_IN_TREE | RESOLVE_CACHED);
    return fd >= 0 && backing_key_at(index->backing, fd, "", &found) == 0 &&
                   file_key_equal(&found, directory)
               ? TAKE_FD(fd)
               : -EAGAIN;
}

enum { DIRECTORY_FLAGS = O_PATH | O_DIRECTORY | O_CLOEXEC };

static struct opening *opening_new(struct index *index, const struct file_key *key, int flags)
{
    struct opening *opening = calloc(1, sizeof(*opening));
    if (opening)
        *opening = (struct opening){.look = {.work = do_opening, .free = opening_free},
                                    .index = index,
                                    .key = *key,
                                    .flags = flags,
                                    .result = -1};
    return opening;
}

/* r is what the look came to. */
static int end_opening(struct opening *opening, int r)
{
    if (r < 0)
        return -EAGAIN;
    const int fd = TAKE_FD(opening->result);
    opening_free(&opening->look);
    return fd;
}

int open_soon(struct index *index, struct looking *looking, uid_t owner,
              const struct file_key *directory)
{
    const int fd = open_known(index, directory);
    struct opening *opening = fd < 0 ? opening_new(index, directory, DIRECTORY_FLAGS) : NULL;
    if (fd >= 0 || !opening)
        return fd >= 0 ? fd : -ENOMEM;
    return end_opening(opening, looks_do_for(looking, owner, &opening->look));
}

int open_file_soon(struct index *index, const struct file_key *file, const char *path)
{
    struct looking looking = {.looks = index->openers, .left_us = FILE_WAIT_US};
    const int fd = open_path(index, path, 0, RESOLVE_CACHED);
    if (fd != -EAGAIN && fd != -EINVAL) /* Linux before 5.12 */
        return fd;
    struct opening *opening = opening_new(index, file, 0);
    if (!opening || !(opening->path = strdup(path))) {
        free(opening);
        return -ENOMEM;
    }
    const int r = looks_do_for(&looking, index_owner(index, file), &opening->look);
    return r < 0 ? -ETIMEDOUT : end_opening(opening, r);
}

static int64_t wait_of(const struct looking *question)
{
    const int64_t most_us = INT64_C(1000) * LOOK_MS;
    if (!question)
        return FILE_WAIT_US;
    return question->left_us < INODE_WAIT_US ? INODE_WAIT_US
           : question->left_us < most_us     ? question->left_us
                                             : most_us;
}

/* -EINPROGRESS where it takes longer. */
static int open_file_by_key(struct index *index, struct looking *question, uid_t owner,
                            const struct file_key *file, int flags)
{
    const int64_t wait_us = wait_of(question);
    struct looking looking = {.looks = index->openers, .left_us = wait_us};
    struct opening *opening = opening_new(index, file, flags);
    if (!opening)
        return -ENOMEM;
    const int r = looks_do_for(&looking, owner, &opening->look);
    const int64_t spent_us = wait_us - looking.left_us;
    if (question && spent_us > INODE_WAIT_US)
        question->left_us -= spent_us;
    return r < 0 ? -EINPROGRESS : end_opening(opening, 0);
}

int open_to_read_soon(struct index *index, uid_t owner, const struct file_key *file)
{
    return open_file_by_key(index, NULL, owner, file, OPEN_TO_READ);
}

int open_key_soon(struct index *index, struct looking *question, const struct file_key *file,
                  int flags)
{
    const int fd = open_file_by_key(index, question, index_owner(index, file), file, flags);
    return fd == -EINPROGRESS ? -EAGAIN : fd;
}

int open_document_soon(struct index *index, struct looking *question, const struct file_key *file,
                       int flags)
{
    const int fd = open_key_soon(index, question, file, flags);
    return fd != -EOPNOTSUPP ? fd
           : flags & O_PATH  ? open_key(index, file, flags)
                             : open_key_to_read(index, file);
}

/* -- closing -- */

static void do_nothing(struct look *look)
{
    (void)look;
}

void close_soon(struct index *index, int fd)
{
    struct statx sx;
    struct opening *opening = NULL;
    if (fd < 0)
        return;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_NLINK | STATX_UID, &sx) == 0 &&
        sx.stx_nlink == 0)
        opening = opening_new(index, &(struct file_key){0}, 0);
    if (!opening) {
        close(fd);
        return;
    }
    opening->look.work = do_nothing;
    opening->result = fd;
    looks_leave(index->openers, sx.stx_uid, &opening->look);
}

void opened_close(struct opened *opened)
{
    close_soon(opened->index, opened->fd);
}

/* -- the committer -- */

/* Whose the deepest directory is that the kernel knows on the way to one. */
static uid_t owner_on_the_way(const struct index *index, const struct file_key *directory)
{
    _cleanup_free_ char *path = NULL;
    _cleanup_close_ int fd = open_path(index, ".", O_DIRECTORY, RESOLVE_CACHED);
    struct statx sx;
    char *rest;
    if (fd < 0 || catalogue_path(index->kv, backing_root_key(index->backing), directory, &path) < 0)
        return FILE_ROW_NOBODY;
    for (char *name = strtok_r(path, "/", &rest); name; name = strtok_r(NULL, "/", &rest)) {
        const int below = open_at(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                                  RESOLVE_IN_TREE | RESOLVE_CACHED);
        if (below < 0)
            break;
        close_p(&fd);
        fd = below;
    }
    return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_UID, &sx) == 0 ? sx.stx_uid
                                                                                  : FILE_ROW_NOBODY;
}

int look_soon_committing(struct index *index, const struct file_key *directory, struct look *look)
{
    enum { QUICK_US = 2000, OF_TIME = 4 };
    const int64_t now_us = clock_now_us(), most_us = INT64_C(1000) * LOOK_MS;
    struct looking looking = {.looks = index->openers};
    index->patience_us += (now_us - index->patience_at_us) / OF_TIME;
    index->patience_at_us = now_us;
    if (index->patience_us > most_us)
        index->patience_us = most_us;
    looking.left_us = index->patience_us;
    int r = looks_do_for(&looking, owner_on_the_way(index, directory), look);
    const int64_t spent_us = index->patience_us - looking.left_us;
    if (spent_us > QUICK_US)
        index->patience_us = looking.left_us;
    return r;
}

int open_soon_committing(struct index *index, const struct file_key *directory)
{
    const int fd = open_known(index, directory);
    struct opening *opening = fd < 0 ? opening_new(index, directory, DIRECTORY_FLAGS) : NULL;
    if (fd >= 0 || !opening)
        return fd >= 0 ? fd : -ENOMEM;
    return end_opening(opening, look_soon_committing(index, directory, &opening->look));
}
