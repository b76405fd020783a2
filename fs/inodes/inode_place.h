/* The places where an inode was seen that is reached by names: a directory's inode, which is kept
 * in the table, and a name in it; the one seen last first. inode_path.h says what they are for.
 *
 * Places that are no more are freed without the table's lock, as their directories may go then. */
#ifndef KINFS_FS_INODES_INODE_PLACE_H
#define KINFS_FS_INODES_INODE_PLACE_H

#include "fs/inodes/inode.h"

/* A hard link with more names than this has lost those seen longest ago. */
enum { INODE_PLACES_MAX = 8 };

struct inode_place {
    struct inode_place *next;
    struct inode *parent; /* kept in the table */
    char name[];
};

/* With the lock held: makes a place the first of so many. Returns those that are no more. Without
 * memory for it, it is looked for when it is needed. */
struct inode_place *inode_place_add(struct inode *inode, struct inode *parent, const char *name,
                                    size_t n_max);

/* With the lock held. Returns the place, which is no more, or NULL: it was none. */
struct inode_place *inode_place_take(struct inode *inode, const struct inode *parent,
                                     const char *name);

void inode_places_free(struct inode_table *table, struct inode_place *places);

void inode_place_move(struct inode_table *table, struct inode *inode, struct inode *old_parent,
                      const char *old_name, struct inode *new_parent, const char *new_name);

/* A place that was tried is not right. True: there is another way to try, be it that the place was
 * changed meanwhile, or that who changes it holds a descriptor. */
bool inode_place_drop(struct inode_table *table, struct inode *inode, const struct inode *parent,
                      const char *name);

#endif
