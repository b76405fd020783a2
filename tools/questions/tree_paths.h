/* Paths that people or programs name, as paths in a tree: many at a time. */
#ifndef KINFS_TOOLS_QUESTIONS_TREE_PATHS_H
#define KINFS_TOOLS_QUESTIONS_TREE_PATHS_H

#include "base/files/trust.h"
#include "tools/questions/holder.h"
#include "tools/questions/locate.h"

struct tree_paths {
    const struct location *at; /* borrowed */
    char *within;              /* what the directory `base` of the location is in the tree; "" */
    char *working_directory;   /* NULL: it has no path */
    struct holder holder;
    struct trusted_mount trusted;
};

/* named  the path that was located, or NULL
 * Returns 0 or -ENOMEM; end with tree_paths_done(). */
int tree_paths_init(const struct location *at, const char *named, struct tree_paths *ret_paths);
void tree_paths_done(struct tree_paths *paths);

/* The path in the tree of what is called so in the mount or in the source. Nothing is looked up:
 * what has ".." in it, or leads to the tree by a link outside of it, is not known, and links within
 * the tree are in the answer. Gives; NULL: not known. */
char *tree_paths_by_name(const struct tree_paths *paths, const char *path);

/* The same of many by where each leads, links and ".." followed, in no other user's FUSE mount. A
 * child looks, which is left behind at a directory that somebody keeps locked: when 20 s have
 * passed that is said, and what is behind it is not known. Not where other threads run.
 *
 * ret_paths[i]  of names[i]; gives, or NULL
 *
 * Returns 0, -ENOMEM or another errno of pipe(2) or fork(2). */
int tree_paths_by_looking(struct tree_paths *paths, const char *const *names, size_t n,
                          char **ret_paths);

#endif
