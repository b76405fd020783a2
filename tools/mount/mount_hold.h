/* A mount has to itself as long as it lives its index, or without one a place to be asked at; in
 * either case it is the holder (holder.h) of mount_plan.store. */
#ifndef KINFS_TOOLS_MOUNT_MOUNT_HOLD_H
#define KINFS_TOOLS_MOUNT_MOUNT_HOLD_H

#include "engine/index/index.h"
#include "tools/options/mount_options.h"
#include "tools/mount/mount_plan.h"

#define MOUNT_HOLD_NONE                                                                            \
    {                                                                                              \
        .holder = -1, .store_fd = -1                                                               \
    }

struct mount_hold {
    struct backing *backing;
    struct document_rules documents; /* of the index */
    struct unique_rules unique;      /* of unique/ */
    struct index *index;             /* NULL with -o nosketch */
    char *place;                     /* NULL but with -o nosketch */
    int holder, store_fd;            /* store_fd: of its directory, -1 with -o nosketch */
    bool used;                       /* set by the caller: there was a mount */
    struct late_end *late;           /* of mount_hold_end_soon() */
};

/* Waits for a daemon that is about to give it up. Takes backing in any case. Returns 0, or an errno
 * with a line in *ret_error; ret_hold gives, end with mount_hold_done(). */
int mount_hold_take(const struct mount_plan *plan, const struct mount_options *options,
                    struct backing *backing, struct mount_hold *ret_hold, char **ret_error);

/* The store has the rules of documents from now on. What keeps it from that is logged. */
void mount_hold_remember_rules(const struct mount_hold *hold, const char *store);

/* The mount has ended, and mount_hold_done() is to come. Where that has not been within some
 * seconds, since somebody keeps a directory locked, or a file system does not answer, that a thread
 * waits for, what is to be stored is stored, the store is given up, and the process ends. */
void mount_hold_end_soon(struct mount_hold *hold);

/* Drains what was just written, for some seconds at most, closes the tree, and gives it up: whoever
 * waited for that finds nothing of the tree in use. Does nothing to one that is MOUNT_HOLD_NONE. A
 * store that was made for a mount that then was none goes again. */
void mount_hold_done(struct mount_hold *hold);

#endif
