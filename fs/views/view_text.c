#include "fs/views/view_text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "fs/views/view_metrics.h"
#include "fs/views/view_topics.h"

struct text {
    struct view_room_stay stay;
    char *text;
    size_t n_bytes;
};

static struct text *text_of(const struct fuse_file_info *fi)
{
    return (struct text *)(uintptr_t)fi->fh;
}

static void text_free(struct text *text)
{
    view_room_leave(&text->stay);
    free(text->text);
    free(text);
}
DEFINE_CLEANUP(struct text *, text_free);

static int make(const struct view_task *task, struct text **ret_text)
{
    const view_text_fn make_text =
        task->node->kind == VIEW_METRICS ? view_metrics_make : view_topics_label;
    _cleanup_(text_free_p) struct text *text = calloc(1, sizeof(*text));
    if (!text)
        return -ENOMEM;
    if (!task->caller.all)
        return -EACCES;
    int r = view_room_enter(&task->fs->views->listings, task->caller.uid, &text->stay);
    if (r == 0)
        r = make_text(task, &text->text);
    if (r < 0)
        return r;
    text->n_bytes = strlen(text->text);
    r = view_room_hold(&text->stay, sizeof(*text) + text->n_bytes);
    if (r < 0)
        return r;
    *ret_text = TAKE_PTR(text);
    return 0;
}

static void open_text(struct view_task *task)
{
    struct text *text;
    int r = make(task, &text);
    if (r < 0) {
        view_reply_err(task, r);
        return;
    }
    task->fi.fh = (uintptr_t)text;
    task->fi.direct_io = 1; /* no size is known, and each opening has its own text */
    if (fuse_reply_open(task->req, &task->fi) < 0)
        text_free(text);
}

void view_text_open(struct fs *fs, fuse_req_t req, struct view_node *node,
                    const struct fuse_file_info *fi)
{
    if ((fi->flags & O_ACCMODE) != O_RDONLY)
        fuse_reply_err(req, EACCES);
    else
        view_defer(fs, req, &(struct view_task){.run = open_text, .node = node, .fi = *fi});
}

void view_text_read(fuse_req_t req, const struct fuse_file_info *fi, size_t size, off_t offset)
{
    const struct text *text = text_of(fi);
    const size_t all = text->n_bytes;
    const size_t start = offset < 0 || (size_t)offset > all ? all : (size_t)offset;
    fuse_reply_buf(req, text->text + start, size < all - start ? size : all - start);
}

void view_text_release(const struct fuse_file_info *fi)
{
    text_free(text_of(fi));
}
