/* The directory that a store is in: whether it is one, who has it, and which database in it counts.
 */
#ifndef KINFS_ENGINE_INDEX_STORE_DIRECTORY_H
#define KINFS_ENGINE_INDEX_STORE_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STORE_DB "db"         /* the store proper */
#define STORE_DB_NEW "db.new" /* one that a rebuild is making */
#define STORE_DB_OLD "db.old" /* the one before, for the moment of an exchange in two steps */

/* Take a store's directory for this process alone, until the descriptor is closed.
 *
 * source     the tree it is to be the store of, and tree_fd the same, open
 * create     make what is missing: the directory, or a store in an empty one
 * ret_made   whether the directory is of this call's making, with all that is in it; may be NULL
 * ret_error  on failure one line that says what to do
 *
 * The directory, its databases and files are the effective user's own (base/files/trust.h), and
 * stay so. A directory of somebody else's is left exactly as it is. Of what an interrupted rebuild
 * left, the database that counts is put in place and the rest removed. Returns 0, -ENOENT (no store
 * and not create), -EBUSY (taken), -ENOTEMPTY (other files, and no store), -EPERM (not one's own,
 * or others can change it), -EINVAL (the tree itself, or a
 * directory of the tree's), or another errno of open(2) or mkdir(2). */
int store_directory_take(const char *path, const char *source, int tree_fd, bool create,
                         int *ret_fd, bool *ret_made, char **ret_error);

/* Remove a directory that store_directory_take() took, for whoever still has it. Only what a store
 * consists of is removed, and other files of the caller's (names, NULL behind the last; NULL:
 * none); a directory with anything else in it stays (-ENOTEMPTY). Returns 0 or an errno of
 * unlink(2). */
int store_directory_remove(const char *path, const char *const *others);

/* The new database takes the place of the one that is there (or is missing). On failure there is
 * what was there. For whoever has taken the directory. */
int store_directory_exchange(const char *path);

/* Remove a rebuild's database that is not to be. */
void store_directory_drop_new(const char *path);

/* The bytes that it takes on the disk with all that is in it, as du(1) has it; what cannot be read
 * does not count. Any thread; some microseconds a file. */
uint64_t store_directory_usage(const char *path);

#endif
