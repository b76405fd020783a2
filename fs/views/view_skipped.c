#include "fs/views/view_skipped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/ratio.h"
#include "fs/views/view.h"

/* Between a stat(2) and an open(2) of one program. */
enum { REMEMBERED_MS = 10000 };
/* As an answer of a listing for who may not see all (view_ask.c). */
enum { TEXT_MAX_BYTES = 64 << 20 };

struct view_skipped {
    unsigned n_refs; /* atomic */
    uint64_t number, state;
    uid_t uid;
    gid_t gid;
    struct timespec made;
    int64_t made_ms;
    struct view_room_stay stay;
    char *text;
    size_t n_bytes;
};

void view_skipped_memory_init(struct view_skipped_memory *memory)
{
    *memory = (struct view_skipped_memory){0};
    pthread_mutex_init(&memory->lock, NULL);
}

void view_skipped_memory_done(struct view_skipped_memory *memory)
{
    view_skipped_unref(memory->last);
    pthread_mutex_destroy(&memory->lock);
}

void view_skipped_ref(struct view_skipped *skipped)
{
    __atomic_add_fetch(&skipped->n_refs, 1, __ATOMIC_RELAXED);
}

void view_skipped_unref(struct view_skipped *skipped)
{
    if (!skipped || __atomic_sub_fetch(&skipped->n_refs, 1, __ATOMIC_ACQ_REL))
        return;
    view_room_leave(&skipped->stay);
    free(skipped->text);
    free(skipped);
}
DEFINE_CLEANUP(struct view_skipped *, view_skipped_unref);

void view_skipped_stat(const struct view_skipped *skipped, struct stat *st)
{
    st->st_uid = skipped->uid;
    st->st_gid = skipped->gid;
    st->st_size = (off_t)skipped->n_bytes;
    st->st_blocks = (blkcnt_t)((skipped->n_bytes + 511) / 512);
    st->st_atim = st->st_mtim = st->st_ctim = skipped->made;
}

const char *view_skipped_text(const struct view_skipped *skipped, size_t *ret_n_bytes)
{
    *ret_n_bytes = skipped->n_bytes;
    return skipped->text;
}

/* -- its lines -- */

struct line {
    char *path; /* by which it is sorted */
    char *text;
};

struct lines {
    struct line *lines;
    size_t n, n_bytes, most_bytes;
};

static void lines_done(struct lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        free(lines->lines[i].path);
        free(lines->lines[i].text);
    }
    free(lines->lines);
}

/* tools/commands/cmd_restore_list.c reads it. */
static int make_text(const char *path, const struct index_stand_in *stand_in, char **ret_text)
{
    const struct stat *st = &stand_in->left_out;
    _cleanup_free_ char *shown = NULL, *other = NULL;
    char digest[2 * sizeof(stand_in->sha256) + 1] = "-";
    for (size_t i = 0; stand_in->same_content && i < sizeof(stand_in->sha256); i++)
        snprintf(digest + 2 * i, 3, "%02x", stand_in->sha256[i]);
    if (escape_name(path, &shown) < 0 || escape_name(stand_in->path, &other) < 0 ||
        asprintf(ret_text, "%s\t%s\t%s\t%lld\t%s\t%04o\t%u\t%u\t%lld.%09ld\t%s\n", shown, other,
                 ratio_text(stand_in->resemblance).text, (long long)st->st_size,
                 stand_in->same_content ? "equal" : "similar", st->st_mode & 07777, st->st_uid,
                 st->st_gid, (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, digest) < 0)
        return -ENOMEM;
    return 0;
}

static int add_line(void *user, const char *path, const struct index_stand_in *stand_in)
{
    struct lines *lines = user;
    const size_t n = lines->n;
    if ((n & (n - 1)) == 0) {
        struct line *larger = reallocarray(lines->lines, n ? n * 2 : 1, sizeof(*larger));
        if (!larger)
            return -ENOMEM;
        lines->lines = larger;
    }
    struct line line = {.path = strdup(path)};
    int r = line.path ? make_text(path, stand_in, &line.text) : -ENOMEM;
    if (r < 0) {
        free(line.path);
        return r;
    }
    lines->n_bytes += strlen(line.text);
    lines->lines[lines->n++] = line;
    return lines->most_bytes && lines->n_bytes > lines->most_bytes ? -EDQUOT : 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->path, ((const struct line *)b)->path);
}

static int join(struct lines *lines, struct view_skipped *skipped)
{
    char *at = skipped->text = malloc(lines->n_bytes + 1);
    if (!at)
        return -ENOMEM;
    if (lines->n)
        qsort(lines->lines, lines->n, sizeof(*lines->lines), by_path);
    for (size_t i = 0; i < lines->n; i++)
        at = stpcpy(at, lines->lines[i].text);
    skipped->n_bytes = lines->n_bytes;
    return 0;
}

static int make(const struct view_task *task, struct view_skipped **ret_skipped)
{
    _cleanup_(view_skipped_unref_p) struct view_skipped *skipped = calloc(1, sizeof(*skipped));
    _cleanup_(lines_done) struct lines lines = {.most_bytes =
                                                    task->caller.all ? 0 : TEXT_MAX_BYTES};
    struct views *views = task->fs->views;
    const struct index_query query = view_unique_query(task);
    if (!skipped)
        return -ENOMEM;
    skipped->n_refs = 1;
    skipped->uid = task->caller.uid;
    skipped->gid = task->caller.gid;
    skipped->state = index_unique_state(views->unique);
    int r = view_room_enter(&views->listings, task->caller.uid, &skipped->stay);
    if (r == 0)
        r = index_unique_each(views->unique, caller_number(&views->callers, &task->caller), &query,
                              add_line, &lines);
    if (r == 0)
        r = view_room_hold(&skipped->stay, lines.n_bytes + sizeof(*skipped));
    if (r == 0)
        r = join(&lines, skipped);
    if (r < 0)
        return r;
    clock_gettime(CLOCK_REALTIME, &skipped->made);
    skipped->made_ms = clock_now_ms();
    LOCKED(&views->skipped.lock);
    skipped->number = ++views->skipped.last_number;
    *ret_skipped = TAKE_PTR(skipped);
    return 0;
}

/* -- the last one -- */

static struct view_skipped *recall(struct views *views)
{
    const uint64_t state = index_unique_state(views->unique);
    LOCKED(&views->skipped.lock);
    struct view_skipped *last = views->skipped.last;
    if (!last || last->state != state || clock_now_ms() - last->made_ms > REMEMBERED_MS)
        return NULL;
    view_skipped_ref(last);
    return last;
}

static void remember(struct views *views, struct view_skipped *skipped)
{
    struct view_skipped *dropped;
    if (skipped->state % 2 || skipped->state != index_unique_state(views->unique))
        return;
    view_skipped_ref(skipped);
    {
        LOCKED(&views->skipped.lock);
        dropped = views->skipped.last;
        views->skipped.last = skipped;
    }
    view_skipped_unref(dropped);
}

static void look_up(struct view_task *task)
{
    struct views *views = task->fs->views;
    _cleanup_(view_skipped_unref_p) struct view_skipped *skipped = NULL;
    int r = view_settle(task);
    if (r == 0 && task->caller.all)
        skipped = recall(views);
    if (r == 0 && !skipped) {
        r = make(task, &skipped);
        if (r == 0 && task->caller.all)
            remember(views, skipped);
    }
    if (r < 0) {
        view_reply_err(task, r);
        return;
    }
    view_reply_entry(task->fs, task->req,
                     &(struct view_node){.kind = VIEW_SKIPPED,
                                         .parent = task->node,
                                         .name = INDEX_UNIQUE_SKIPPED,
                                         .question = skipped->number,
                                         .skipped = skipped});
}

void view_skipped_lookup(struct fs *fs, fuse_req_t req, struct view_node *parent)
{
    view_defer(
        fs, req,
        &(struct view_task){.run = look_up, .node = parent, .is_long = true, .holds_lock = true});
}
