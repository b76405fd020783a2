/* A holder file says who has a store open: the file `holder` in the store, a line of JSON, locked
 * (OFD lock) as long as the process lives. It stays behind and then says whose store it was. The
 * store itself is guarded by the engine; this is how tools know whom to ask, whom to name and whom
 * to wait for.
 */
#ifndef KINFS_TOOLS_QUESTIONS_HOLDER_H
#define KINFS_TOOLS_QUESTIONS_HOLDER_H

#include <stdbool.h>

#include "base/cleanup.h"

struct holder {
    int pid;
    char *command;    /* "mount", "scan", ... */
    char *source;     /* of the store's tree */
    char *mountpoint; /* NULL when not mounted */
    bool alive;       /* the lock is held */
};

/* Become the holder until the descriptor is closed: for whoever has opened the store, which lets in
 * one at a time. mountpoint may be NULL. Returns 0, or an errno of open(2), write(2) or rename(2);
 * then the file is as it was. */
int holder_hold(const char *store, const char *command, const char *source, const char *mountpoint,
                int *ret_fd);

/* For a mount without a store: make a directory (0700) for the holder file and the control socket
 * alone, and become its holder. Returns 0, -EBUSY when someone is, or as holder_hold(). */
int holder_make(const char *directory, const char *source, const char *mountpoint, int *ret_fd);

/* Be the holder no more, though the descriptor stays open: a process that ends may have threads
 * that keep it so. */
void holder_let_go(int fd);

/* And take it away, while still its holder, after which another may make it. NULL allowed. */
void holder_remove(const char *directory);

/* Returns 0 or -ENOENT (never held, or not readable as one); gives, end with holder_done(). */
int holder_read(const char *store, struct holder *ret_holder);
void holder_done(struct holder *holder);

/* Wait until whoever holds the store does no more. Returns 0 or -ETIMEDOUT. */
int holder_wait(const char *store, int wait_ms);

/* The mount that the holder made is there still, in this mount namespace; false when it is no
 * mount. A daemon can outlive that: after a lazy unmount with files open, or where the same is
 * mounted by a bind mount or in another namespace. */
bool holder_is_mounted(const struct holder *holder);

/* "mounted on /x (process 7)", "in use by kinfs scan (process 7)"; and what to do for the store to
 * be free: "unmount it first with kinfs umount /x". Both give. */
char *holder_describe(const struct holder *holder);
char *holder_remedy(const struct holder *holder);

#endif
