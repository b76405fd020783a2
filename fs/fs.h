/* The mount: serves a backing tree through FUSE, every operation passed through, and the views of
 * its index beside it. */
#ifndef KINFS_FS_FS_H
#define KINFS_FS_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/backing.h"
#include "engine/index/index.h"

struct fs;

/* LISTED, HIDDEN: in listings of the root, or found by name alone; neither: hidden where the tree
 * is mounted over itself, so that whoever copies it or goes through it sees the tree alone. */
enum {
    FS_VIEW_SIMILAR = 1,
    FS_VIEW_CLUSTERS = 2,
    FS_VIEW_LISTED = 4,
    FS_VIEW_HIDDEN = 8,
    FS_VIEW_UNIQUE = 16,
    /* A walk through these has documents read; and unique/ is there to be copied, and a copy of all
     * would have all twice: of the listings that have others they are in none without this. */
    FS_VIEW_READING_LISTED = 32,
    FS_VIEW_CONTAINS = 64,
    FS_VIEW_WITHIN = 128,
    FS_VIEW_PASSAGES = 256, /* where they are indexed */
    FS_VIEW_LOST = 512,     /* for root and the owner of the mount */
    FS_VIEW_RELATED = 1024, /* likewise, where words of documents are kept */
    FS_VIEW_TOPICS = 2048,  /* likewise */
    FS_VIEWS_READING = FS_VIEW_UNIQUE | FS_VIEW_CONTAINS | FS_VIEW_WITHIN | FS_VIEW_PASSAGES |
                       FS_VIEW_LOST | FS_VIEW_RELATED | FS_VIEW_TOPICS,
};

/* The way in which changes made beside the mount are seen (fs/watch/watch.h); AUTO: by the best
 * that can be had.
 */
enum fs_watch { FS_WATCH_AUTO, FS_WATCH_FANOTIFY, FS_WATCH_INOTIFY, FS_WATCH_NONE };

struct fs_options {
    struct backing *backing; /* borrowed until fs_close() */
    struct index *index;     /* borrowed; NULL: pass through only, no views */
    const char *source;      /* shown as the mount's source (fsname) */
    const char *store_path;  /* shown as user.kinfs.store to the mount's owner */
    const char *mountpoint;  /* its path */
    int mountpoint_fd;       /* the mount point, O_PATH; borrowed until fs_open() returns */
    unsigned views;          /* FS_VIEW_ bits: which appear in the root; .kinfs/ has all */
    double threshold;        /* of similar/, and of containment in contains/ and within/ */
    struct index_unique_options unique; /* of unique/; its patterns are borrowed until fs_serve() */
    size_t limit;    /* most links in a directory of a document or a cluster, 0 for all */
    bool list_xattr; /* computed attributes appear in listxattr */
    bool robots;     /* what unique/ leaves out has the attribute user.xdg.robots.backup */
    bool allow_other;
    bool passthrough;  /* use kernel passthrough where there is any */
    int settle_ms;     /* bound of the wait of a view for the foreground lane */
    const char *extra; /* further mount options, comma separated, or NULL */
    bool debug;
    enum fs_watch watch;
    void (*log)(void *user, enum index_log_level level, const char *message); /* any thread */
    void *log_user;
};

/* Mount. Anything left by a dead daemon at the mount point has been cleaned by the caller.
 * Returns 0 or a negative errno with one line of *ret_error (gives). */
int fs_open(const struct fs_options *options, struct fs **ret_fs, char **ret_error);

/* Serve until unmounted or told to end by fs_exit(). begun(user) is called once requests are
 * answered, ended(user) once none is taken any more, before those that are being answered are
 * waited for, however long that takes; both in this thread. Returns 0, or a negative errno: -ENOMEM
 * or -EAGAIN, without begun, where there is no memory or no thread to begin with. */
int fs_serve(struct fs *fs, void (*begun)(void *user), void (*ended)(void *user), void *user);
void fs_exit(struct fs *fs);  /* async-signal-safe */
void fs_close(struct fs *fs); /* unmounts if still mounted */

struct fs_status {
    bool passthrough, killpriv_v2, posix_acl, handles;
    char protocol[16];   /* "7.45" */
    char libfuse[16];    /* "3.17.2" */
    char watch[16];      /* "fanotify", "inotify" or "none" */
    char watch_why[160]; /* why it is not a better one; "" */
    int kept_s;          /* how long the kernel may keep what it was told of the tree */
};
void fs_get_status(struct fs *fs, struct fs_status *ret_status);

/* Wait until the index has been told of all that was changed beside the mount before the first call
 * with a ticket, where that is watched. What was told may still have to settle there. Any thread,
 * until fs_close(); where nothing was changed, a system call.
 *
 * all     also what is written by somebody who has not closed it yet
 * ticket  0 at first; kept by who calls again to go on waiting
 *
 * Returns 0 or -ETIMEDOUT. */
int fs_settle(struct fs *fs, bool all, uint64_t *ticket, int wait_ms);

/* The limits of the mount for want of privileges, as a clause to be said once: "..., ..., ...".
 * Gives; NULL when there is nothing to say, or no memory to say it. */
char *fs_describe_limits(const struct fs *fs);

#endif
