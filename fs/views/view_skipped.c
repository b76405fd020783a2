#include "fs/views/view_skipped.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/ratio.h"
#include "fs/views/view.h"

/* Between a stat(2) and an open(2) of one program, and between the lookup and the opening of one
 * open(2). */
enum { REMEMBERED_MS = 10000, OPENED_MS = 1000 };

struct view_skipped {
    struct view_skipped_memory *memory;
    struct view_skipped *next, **place; /* in the memory, from when its text is whole; or NULL */
    unsigned n_refs, n_open;
    unsigned n_due; /* how often it was looked up and not opened */
    bool was_opened;
    uint64_t number, state;
    uid_t uid;
    gid_t gid;
    struct timespec made;
    int64_t made_ms;
    struct view_file file; /* of the text; or none any more */
    uint64_t n_bytes;
};

void view_skipped_memory_init(struct view_skipped_memory *memory)
{
    *memory = (struct view_skipped_memory){0};
    pthread_mutex_init(&memory->lock, NULL);
}

void view_skipped_memory_done(struct view_skipped_memory *memory)
{
    pthread_mutex_destroy(&memory->lock);
}

/* -- how long there is a text -- */

void view_skipped_ref(struct view_skipped *skipped)
{
    LOCKED(&skipped->memory->lock);
    skipped->n_refs++;
}

void view_skipped_unref(struct view_skipped *skipped)
{
    if (!skipped)
        return;
    {
        LOCKED(&skipped->memory->lock);
        if (--skipped->n_refs)
            return;
        if (skipped->place)
            *skipped->place = skipped->next;
        if (skipped->place && skipped->next)
            skipped->next->place = skipped->place;
    }
    view_file_close(&skipped->file);
    free(skipped);
}

int view_skipped_open(struct view_skipped *skipped)
{
    LOCKED(&skipped->memory->lock);
    if (skipped->file.fd < 0)
        return -ESTALE;
    skipped->n_open++;
    skipped->was_opened = true;
    skipped->n_due -= skipped->n_due > 0;
    return 0;
}

/* It is closed without the lock: a large file takes the file system a while. */
static struct view_file take_text(struct view_skipped *skipped)
{
    struct view_file file = skipped->file;
    skipped->file = (struct view_file){.fd = -1};
    return file;
}

void view_skipped_close(struct view_skipped *skipped)
{
    struct view_file file;
    {
        LOCKED(&skipped->memory->lock);
        if (--skipped->n_open || skipped->n_due > 1) /* one stat(2) is of who opened it */
            return;
        file = take_text(skipped);
    }
    view_file_close(&file);
}

static int64_t age_ms(const struct view_skipped *skipped)
{
    return clock_now_ms() - skipped->made_ms;
}

/* The kernel knows a list until its name is looked up once more. What was not opened in time, by
 * then, has no room that the next one of the user wants. */
static struct view_file take_old(struct view_skipped_memory *memory, uid_t uid)
{
    LOCKED(&memory->lock);
    for (struct view_skipped *skipped = memory->first; skipped; skipped = skipped->next)
        if (!skipped->n_open && skipped->file.fd >= 0 &&
            age_ms(skipped) > (skipped->uid == uid ? OPENED_MS : REMEMBERED_MS))
            return take_text(skipped);
    return (struct view_file){.fd = -1};
}

static void drop_old(struct view_skipped_memory *memory, uid_t uid)
{
    struct view_file file;
    while ((file = take_old(memory, uid)).fd >= 0)
        view_file_close(&file);
}

static void keep(struct view_skipped *skipped)
{
    struct view_skipped_memory *memory = skipped->memory;
    LOCKED(&memory->lock);
    skipped->number = ++memory->last_number;
    skipped->next = memory->first;
    if (skipped->next)
        skipped->next->place = &skipped->next;
    skipped->place = &memory->first;
    memory->first = skipped;
}

static struct view_skipped *recall(struct view_skipped_memory *memory, uid_t uid, uint64_t state)
{
    LOCKED(&memory->lock);
    for (struct view_skipped *skipped = memory->first; skipped; skipped = skipped->next)
        if (skipped->uid == uid && !skipped->was_opened && skipped->file.fd >= 0 &&
            state % 2 == 0 && skipped->state == state && age_ms(skipped) <= REMEMBERED_MS) {
            skipped->n_refs++;
            skipped->n_due++;
            return skipped;
        }
    return NULL;
}

/* -- -- */

void view_skipped_stat(const struct view_skipped *skipped, struct stat *st)
{
    st->st_uid = skipped->uid;
    st->st_gid = skipped->gid;
    st->st_size = (off_t)skipped->n_bytes;
    st->st_blocks = (blkcnt_t)((skipped->n_bytes + 511) / 512);
    st->st_atim = st->st_mtim = st->st_ctim = skipped->made;
}

void view_skipped_read(fuse_req_t req, const struct view_skipped *skipped, size_t size,
                       off_t offset)
{
    struct fuse_bufvec data = FUSE_BUFVEC_INIT(size);
    data.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
    data.buf[0].fd = skipped->file.fd;
    data.buf[0].pos = offset;
    fuse_reply_data(req, &data, 0);
}

/* -- its lines -- */

/* tools/commands/cmd_restore_list.c reads it. */
static int make_text(const char *path, const struct index_stand_in *stand_in, char **ret_text)
{
    const struct stat *st = &stand_in->left_out;
    _cleanup_free_ char *shown = NULL, *other = NULL;
    char digest[2 * sizeof(stand_in->sha256) + 1] = "-";
    for (size_t i = 0; stand_in->same_content && i < sizeof(stand_in->sha256); i++)
        snprintf(digest + 2 * i, 3, "%02x", stand_in->sha256[i]);
    if (escape_name(path, &shown) < 0 || escape_name(stand_in->path, &other) < 0 ||
        asprintf(ret_text, "%s\t%s\t%s\t%lld\t%s\t%04o\t%u\t%u\t%lld.%09ld\t%s\t%llu\n", shown,
                 other, ratio_text(stand_in->resemblance).text, (long long)st->st_size,
                 stand_in->same_content ? "equal" : "similar", st->st_mode & 07777, st->st_uid,
                 st->st_gid, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, digest,
                 (unsigned long long)st->st_ino) < 0)
        return -ENOMEM;
    return 0;
}

/* A list on the disk may have any size, but no more than it leaves there. Looked at once a
 * mebibyte. */
static int check_disk(const struct view_skipped *skipped, uint64_t n_bytes)
{
    struct statvfs st;
    if (skipped->file.is_in_memory || skipped->n_bytes >> 20 == n_bytes >> 20)
        return 0;
    if (fstatvfs(skipped->file.fd, &st) < 0)
        return -errno;
    return (uint64_t)st.f_bavail * st.f_frsize < n_bytes ? -ENOSPC : 0;
}

static int append(struct view_skipped *skipped, const char *text, size_t n_bytes)
{
    while (n_bytes > 0) {
        ssize_t n = write(skipped->file.fd, text, n_bytes);
        if (n < 0 && errno != EINTR)
            return -errno;
        if (n <= 0)
            continue;
        text += n;
        n_bytes -= (size_t)n;
        skipped->n_bytes += (uint64_t)n;
    }
    return 0;
}

static int add_line(void *user, const char *path, const struct index_stand_in *stand_in)
{
    struct view_skipped *skipped = user;
    _cleanup_free_ char *text = NULL;
    int r = make_text(path, stand_in, &text);
    if (r < 0)
        return r;
    const uint64_t n_bytes = skipped->n_bytes + strlen(text);
    r = check_disk(skipped, n_bytes);
    if (r == 0 && skipped->file.is_in_memory)
        r = view_room_hold(&skipped->file.stay, n_bytes);
    return r < 0 ? r : append(skipped, text, strlen(text));
}

static int make(const struct view_task *task, struct view_skipped **ret_skipped)
{
    _cleanup_(view_skipped_unref_p) struct view_skipped *skipped = calloc(1, sizeof(*skipped));
    struct views *views = task->fs->views;
    const struct index_query query = view_unique_query(task);
    if (!skipped)
        return -ENOMEM;
    skipped->memory = &views->skipped;
    skipped->n_refs = skipped->n_due = 1;
    skipped->uid = task->caller.uid;
    skipped->gid = task->caller.gid;
    skipped->state = index_unique_state(views->unique);
    drop_old(&views->skipped, skipped->uid);
    int r = view_file_open(task->fs, &views->lists, skipped->uid, skipped->gid, &skipped->file);
    if (r == 0)
        r = index_unique_each(views->unique, &query, add_line, skipped);
    if (r < 0)
        return r;
    clock_gettime(CLOCK_REALTIME, &skipped->made);
    skipped->made_ms = clock_now_ms();
    keep(skipped);
    *ret_skipped = TAKE_PTR(skipped);
    return 0;
}

int view_skipped_find(const struct view_task *task, struct view_skipped **ret_skipped)
{
    struct views *views = task->fs->views;
    int r = task->caller.all ? view_settle(task) : -EACCES;
    if (r < 0)
        return r;
    struct view_skipped *skipped =
        recall(&views->skipped, task->caller.uid, index_unique_state(views->unique));
    if (!skipped)
        return make(task, ret_skipped);
    *ret_skipped = skipped;
    return 0;
}

uint64_t view_skipped_number(const struct view_skipped *skipped)
{
    return skipped->number;
}
