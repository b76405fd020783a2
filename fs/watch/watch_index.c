/* The index is told of changes beside the mount. */
#include <sys/stat.h>

#include "base/clock.h"
#include "fs/watch/watch_private.h"

enum {
    /* A file is sketched when it is closed, or when it has stood still for so long; not at each
     * write of one who writes a line every now and then. */
    STILL_MS = 500,
    MOST_PENDING = 4096,
};

/* The file is as it was when it was last closed through the mount: the index knows of that, and
 * with kernel passthrough, or by inotify, the writer cannot be told from one beside the mount. (So
 * who stores through a mapping beside it just then, into a page that is dirty already, is not
 * seen.) */
static bool is_noted(struct fs *fs, const struct file_key *key)
{
    struct inode *inode = inode_get(&fs->inodes, key);
    if (!inode)
        return false;
    bool noted = false;
    {
        _cleanup_(inode_return_fd_late) struct inode_fd borrowed = INODE_FD_NONE;
        struct stat st;
        int fd = inode_borrow_open(&fs->inodes, inode, &borrowed);
        /* By its name it would be looked for in a directory that somebody may keep locked. */
        if (fd >= 0 ? fstat(fd, &st) == 0 : !inode->by_name && index_look(fs->index, key, &st) == 0)
            noted = inode_is_closed_as(&fs->inodes, inode, &st);
    }
    inode_unref(&fs->inodes, inode);
    return noted;
}

static void note_content(struct watch *watch, const struct file_key *key)
{
    struct fs *fs = watch->fs;
    if (!(fs->options.passthrough && is_noted(fs, key)) && index_has(fs->index, key))
        index_note_written(fs->index, index_owner(fs->index, key), key);
}

/* A name that is not known yet is read no sooner than it is, and so after the writing. */
static void note_entry(struct watch *watch, const struct file_key *directory, const char *name,
                       bool is_written)
{
    struct fs *fs = watch->fs;
    struct file_key file;
    if (is_written && index_file_at(fs->index, directory, name, &file) && !is_noted(fs, &file))
        index_note_entry_written(fs->index, directory, name);
    else
        index_note_entry(fs->index, directory, name);
}

/* One into which somebody writes. */
static void note_name(struct watch *watch, const struct file_key *directory, const char *name)
{
    if (index_has(watch->fs->index, directory))
        note_entry(watch, directory, name, true);
}

static void note(struct watch *watch, const struct file_key *key, const char *name)
{
    if (*name)
        note_name(watch, key, name);
    else
        note_content(watch, key);
}

/* The one that was written last comes last, and is due last. */
static void note_later(struct watch *watch, const struct file_key *key, const char *name)
{
    if (!watch->pending)
        watch->pending = watch_batch_new();
    struct watch_batch *pending = watch->pending;
    if (pending && (pending->n_seen < MOST_PENDING || watch_batch_find(pending, key, name)) &&
        watch_batch_add(pending, key, name, SEEN_WRITING) == 0)
        TAILQ_LAST(&pending->seen, seen_list)->due_ms = clock_now_ms() + STILL_MS;
    else
        note(watch, key, name);
}

static void note_pending(struct watch *watch, struct seen *pending)
{
    note(watch, &pending->key, pending->name);
    watch_batch_remove(watch->pending, pending);
}

/* Somebody waits for what is so now. */
static void note_all(struct watch *watch)
{
    while (watch->pending && watch->pending->n_seen && watch_post_step(&watch->index))
        note_pending(watch, TAILQ_FIRST(&watch->pending->seen));
}

/* In how many milliseconds to come again, -1: never. */
static int note_due(struct watch *watch)
{
    const int64_t now_ms = clock_now_ms();
    while (watch->pending && watch->pending->n_seen) {
        struct seen *pending = TAILQ_FIRST(&watch->pending->seen);
        if (pending->due_ms > now_ms)
            return (int)(pending->due_ms - now_ms);
        note_pending(watch, pending);
    }
    return -1;
}

void watch_index_done(struct watch *watch)
{
    watch_batch_unref(watch->pending);
}

/* Names first, the last change first: what was renamed is found under its new name before it is
 * missed under the old. */
static void note_names(struct watch *watch, struct watch_batch *batch)
{
    const struct file_key *known = NULL;
    bool has = false;
    struct seen *seen;
    TAILQ_FOREACH_REVERSE(seen, &batch->seen, seen_list, order)
    {
        if (!*seen->name || !(seen->what & SEEN_ENTRY))
            continue;
        if (!watch_post_step(&watch->index))
            return;
        if (!known || !file_key_equal(known, &seen->key)) {
            known = &seen->key;
            has = index_has(watch->fs->index, known);
        }
        if (has)
            note_entry(watch, known, seen->name, seen->what & (SEEN_WRITING | SEEN_WRITTEN));
    }
}

static void note_contents(struct watch *watch, struct watch_batch *batch)
{
    struct seen *seen;
    TAILQ_FOREACH(seen, &batch->seen, order)
    {
        bool done = seen->what & (*seen->name ? SEEN_ENTRY : SEEN_WRITTEN);
        if (!done && !(seen->what & SEEN_WRITING))
            continue;
        if (!watch_post_step(&watch->index))
            return;
        if (!done)
            note_later(watch, &seen->key, seen->name);
        else if (watch->pending)
            watch_batch_remove(watch->pending,
                               watch_batch_find(watch->pending, &seen->key, seen->name));
        if (done && !*seen->name)
            note_content(watch, &seen->key);
    }
}

/* The wish has come by: fs_settle() ends. */
static void tell_waiting(struct watch *watch, uint64_t number)
{
    LOCKED(&watch->settle_lock);
    watch->settle_told = number;
    pthread_cond_broadcast(&watch->settled);
}

int watch_index_work(void *user, struct watch_batch *batch)
{
    struct watch *watch = user;
    if (batch) {
        note_names(watch, batch);
        note_contents(watch, batch);
    }
    if (batch && batch->wish.all)
        note_all(watch);
    if (batch && batch->wish.number)
        tell_waiting(watch, batch->wish.number);
    return note_due(watch);
}
