/* The parts of the watch share this struct, and are these threads.
 *
 *   reader   reads events, merges them, tells the kernel of attributes: none of it ever waits
 *   kernel   tells the kernel of names and pages, which waits for locks of directories and pages,
 *            held while a request is under way
 *   index    asks the store what belongs to the tree, and notes what changed in it
 *
 * None holds a lock while it tells the kernel, and none takes one that is held over a request.
 */
#ifndef KINFS_FS_WATCH_WATCH_PRIVATE_H
#define KINFS_FS_WATCH_WATCH_PRIVATE_H

#include "fs/watch/watch.h"
#include "fs/watch/watch_post.h"

/* A way to learn of changes. */
struct watch_source {
    const char *name;
    bool sees_all; /* so that the kernel may rely on it */
    /* Returns 0 and what read() is to wait for in watch->source_fd, or an error with *ret_why
     * (gives). */
    int (*open)(struct watch *watch, char **ret_why);
    /* All that was there to read when it was called; what comes meanwhile may be left to the next
     * call, as it might never end. 0, or -EOVERFLOW or another error: something was missed. */
    int (*read)(struct watch *watch, struct watch_batch *batch);
    void (*close)(struct watch *watch);
};
extern const struct watch_source watch_fanotify, watch_inotify;

/* More events than that in the queue of fanotify are missed, and none of them is read. They are of
 * the whole file system, whoever changes what in it, and the kernel bounds neither their number nor
 * their memory: who makes them faster than they are read would have the kernel told later and later
 * of what others have changed. */
enum { WATCH_QUEUED_MAX = 2 * WATCH_BATCH_MAX };

/* Batches of which the kernel may not have been told, when what is read next happened: all that the
 * two posts hold, what they have in hand, and one more that they are done with. */
struct watch_moves {
    struct {
        struct watch_batch *batch;
        bool is_told;
    } kept[2 * WATCH_POST_ROOM + 3];
    size_t n_kept;
};

struct watch {
    struct fs *fs;
    const struct watch_source *source;
    int source_fd, wake_fd, mounts_fd;
    void *state; /* the source's */
    char *why;   /* of a better source: why it is not this one; or NULL */
    atomic_bool stop;
    pthread_t reader;
    bool started;

    atomic_int entry_timeout_s;    /* 0: the kernel is not connected yet */
    atomic_llong reading_since_ms; /* events are there since then; 0: none */
    atomic_bool is_partial;        /* the source: something cannot be watched */
    atomic_bool lost;              /* something was missed, and the kernel not yet told of all */
    atomic_bool names_lost;        /* more names than can be told one by one */
    atomic_bool names_behind;      /* the thread that tells them hangs */
    struct watch_batch *again;     /* reader: to be told once more; NULL: none so far */
    int64_t again_due_ms;          /* reader: when the first of them is due */
    bool all_again;                /* reader: room for them was wanting */

    struct watch_moves moves;        /* reader */
    struct watch_post kernel, index; /* index: only where there is one */
    char **mounts;                   /* reader, or mounts_lock: those inside the tree */
    size_t n_mounts;
    pthread_mutex_t mounts_lock; /* where there is no reader */
    pthread_mutex_t settle_lock; /* of the next four; a leaf */
    pthread_cond_t settled;
    uint64_t settle_wanted, settle_told;
    uint64_t settle_all;         /* who was the last to wait for what is written on, too */
    uint64_t settle_passed_on;   /* reader */
    struct watch_batch *pending; /* index: files whose writers may go on; NULL: none so far */
};

/* -- watch_kernel.c -- */
/* Reader: what the batch says of attributes, and once more what the kernel did not know. */
void watch_tell_attributes(struct watch *watch, struct watch_batch *batch);
/* Reader: all that the kernel knows may be wrong. Returns 0, or -ENOMEM, -EAGAIN: to be repeated.
 */
int watch_tell_all(struct watch *watch);
bool watch_again_is_due(const struct watch *watch);
/* Reader: all names may be wrong, and cannot be told one by one. */
void watch_forget_names(struct watch *watch);
int watch_kernel_work(void *watch, struct watch_batch *batch);

/* -- watch_moves.c -- */
/* Reader: around each source->read(). batch: what was read and given to the posts, or NULL. False:
 * there is no room, all names are to be forgotten. */
void watch_moves_begin(struct watch *watch);
bool watch_moves_end(struct watch *watch, struct watch_batch *batch);
/* Source, of what this process did: a name was moved. Returns 0 or as watch_batch_add(). */
int watch_moves_see(struct watch *watch, struct watch_batch *batch,
                    const struct file_key *old_directory, const char *old_name,
                    const struct file_key *new_directory, const char *new_name);
void watch_moves_done(struct watch *watch);

/* -- watch_mounts.c -- */
/* Reader: what is mounted inside the tree, and the names that mean something else since the last
 * call, as SEEN_ENTRY. Never waits for what is mounted there. */
int watch_mounts_look(struct watch *watch, struct watch_batch *batch);
/* poll(2) tells of each change once. */
bool watch_mounts_changed(const struct watch *watch);
/* Tells the index of what has changed when there is no reader. Any thread; one system call where
 * nothing has. */
void watch_mounts_catch_up(struct watch *watch);
void watch_mounts_done(struct watch *watch);

/* -- watch_settle.c -- */
void watch_settle_init(struct watch *watch);
void watch_settle_done(struct watch *watch);
/* Reader: somebody waits; the wish of whoever came to wait last, to be asked for before events are
 * read and sent with them; and that it was sent. */
bool watch_settle_is_wanted(struct watch *watch);
struct watch_wish watch_settle_wish(struct watch *watch);
void watch_settle_passed_on(struct watch *watch, struct watch_wish wish);

/* -- watch_index.c -- */
int watch_index_work(void *watch, struct watch_batch *batch);
void watch_index_done(struct watch *watch);

#endif
