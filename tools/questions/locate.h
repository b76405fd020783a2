/* From a path a person types to the store that knows about it. */
#ifndef KINFS_TOOLS_QUESTIONS_LOCATE_H
#define KINFS_TOOLS_QUESTIONS_LOCATE_H

#include <stdbool.h>

#include "base/cleanup.h"

struct location {
    bool is_file; /* what was asked about is a regular file */
    char *store;  /* an existing directory; of a mount without one, where its daemon is asked */
    char *source; /* the backing tree */
    char *base;   /* where the person sees the tree: the mount point, or the source */
    char
        *path; /* what was asked about, relative to the tree; "" is its root; NULL: no path given */
};

/* Find the store of a path inside a mount (the mount says) or inside a source (the nearest
 * directory above that has one).
 *
 * path   NULL: without store the working directory, else nothing but the store is meant
 * store  NULL: found as above; else this one
 *
 * A FUSE mount that is neither root's nor the effective user's is not asked (-EACCES), and of a
 * store that others can change nothing is believed (-EPERM).
 *
 * Returns 0, -ENOENT, -EACCES, -EPERM, -ENOTCONN (a mount whose daemon has died), -ENOMEM or
 * another errno of trust_open_anywhere(), with a line in *ret_error; ret_location gives, end with
 * location_done().
 */
int locate(const char *path, const char *store, struct location *ret_location, char **ret_error);
void location_done(struct location *location);

/* The store of a source when nobody says otherwise: in $KINFS_STATE_DIR, else for root in
 * /var/lib/kinfs, else in $XDG_STATE_HOME/kinfs, else in ~/.local/state/kinfs; named
 * location_store_name(). Touches no file. Returns 0 or -ENOENT (no home), with *ret_error. */
int location_default_store(const char *source, char **ret_store, char **ret_error);

/* The directory that these are in. Gives; as location_default_store(). */
int location_stores(char **ret_directory, char **ret_error);

/* The directory in which the daemon of a mount without a store is asked (holder.h, control.h):
 * beside the default stores, there as long as the daemon, named after the mount point. As
 * location_default_store(). */
int location_of_mount(const char *mountpoint, char **ret_directory, char **ret_error);

/* The name of a source's store: its path without the first slash, every other slash a "-", every
 * byte but letters, digits, "." and "_" (and a "." in front) as %xx; "-" for "/". Past 180 bytes
 * cut there,
 * "+" and a hash of the whole path appended. Different sources have different names. Gives. */
char *location_store_name(const char *source);

#endif
