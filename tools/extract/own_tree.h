/* A tree of directories for one run of a program, in a mount namespace of its own: what the program
 * is to find, and no mount of another user, whose server could learn the names that are looked up
 * in it, and keep whoever looks them up from being killed. */
#ifndef KINFS_TOOLS_EXTRACT_OWN_TREE_H
#define KINFS_TOOLS_EXTRACT_OWN_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct own_tree_part {
    const char *path; /* absolute */
    int fd;           /* of own_tree_open() */
};

/* From now on nothing that others mount comes to this thread, and nothing of its own to others.
 *
 * Returns a descriptor of /proc for own_tree_enter(), or a negative errno: a tree of its own is not
 * to be had here, and everything is as it was. */
int own_tree_begin(void);

/* A part of the tree, with all that is mounted below. Returns a descriptor (O_PATH), or -1. */
int own_tree_open(const char *path);

/* The root becomes a directory in which nothing is but /proc, the usual links in /dev and the
 * parts, each at its path; a part that has vanished is not there. FUSE mounts that are neither
 * root's nor the effective user's are left out of them, and so are mounts of kinfs: a run would
 * keep them from ending.
 *
 * proc  of own_tree_begin(); closed
 *
 * Returns 1, 0 when it cannot be had here (everything is as it was), or a negative errno: the
 * program must not be run. */
int own_tree_enter(int proc, const struct own_tree_part *parts, size_t n);

/* The process would have a tree of its own. Starts a thread that tries. */
bool own_tree_is_to_be_had(void);

#endif
