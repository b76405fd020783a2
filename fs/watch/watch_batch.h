/* A batch has what was seen to change in the tree during a few tens of milliseconds, each thing
 * once. */
#ifndef KINFS_FS_WATCH_WATCH_BATCH_H
#define KINFS_FS_WATCH_WATCH_BATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/cleanup.h"
#include "base/files/file_key.h"

enum {
    SEEN_ENTRY = 1,      /* a name came, went, or means another inode now */
    SEEN_ATTRIBUTES = 2, /* of an inode: whatever stat(2) or its access control lists say */
    SEEN_WRITING = 4,    /* its content changed, and the writer may go on */
    SEEN_WRITTEN = 8,    /* its content (or times, or who may read it) is to be looked at now; of a
                          * name together with SEEN_ENTRY */
    SEEN_CONTENT = 16,   /* size and times */
    SEEN_OWN = 32,       /* as SEEN_ATTRIBUTES, but by this process: replies may have told */
    SEEN_CROSSED = 64,   /* of what this process changed: what the kernel asked before, alone */
    SEEN_TAKEN = 128,    /* a name to which this process moved what the kernel took for another */
    SEEN_ANSWERED = 256, /* for watch_kernel.c: to be told although the reply that the kernel takes
                          * for true is known to have come before another */
};

/* An inode by its key; or with a name, that entry of the directory of the key. */
struct seen {
    struct seen *next; /* in its bucket */
    TAILQ_ENTRY(seen) order;
    struct file_key key;
    unsigned what;  /* SEEN_ bits */
    int64_t due_ms; /* for watch_index.c and watch_kernel.c */
    char name[];    /* "" for the inode itself */
};

/* More than this at once: all that is known is looked at anew, at less cost than one by one. The
 * index has room for as many changes before it does the same. */
enum { WATCH_BATCH_MAX = 1 << 16 };

/* The wish of those who wait until the index has been told (watch_settle.c). */
struct watch_wish {
    uint64_t number; /* of the last of them; 0: nobody waits */
    bool all;        /* of files, too, whose writers may go on */
};

struct watch_batch {
    atomic_uint n_refs;
    TAILQ_HEAD(seen_list, seen) seen; /* those seen last at the end */
    struct seen **buckets;
    size_t n_buckets, n_seen;
    bool has_names;
    struct watch_wish wish; /* who is told when it comes by */
};

struct watch_batch *watch_batch_new(void); /* one reference, or NULL */
struct watch_batch *watch_batch_ref(struct watch_batch *batch);
void watch_batch_unref(struct watch_batch *batch); /* NULL allowed */
DEFINE_CLEANUP(struct watch_batch *, watch_batch_unref);

/* Add what was seen of an inode (name NULL or "") or of a name; it moves to the end. One thread, as
 * long as there is one reference. Returns 0, -ENOMEM, or -EOVERFLOW when the batch is full. */
int watch_batch_add(struct watch_batch *batch, const struct file_key *key, const char *name,
                    unsigned what);
struct seen *watch_batch_find(struct watch_batch *batch, const struct file_key *key,
                              const char *name);
void watch_batch_remove(struct watch_batch *batch, struct seen *seen); /* NULL allowed; frees it */
bool watch_batch_has_name(struct watch_batch *batch, const struct file_key *directory,
                          const char *name);

#endif
