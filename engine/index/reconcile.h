/* One entry of the tree against the catalogue; the committer's. */
#ifndef KINFS_ENGINE_INDEX_RECONCILE_H
#define KINFS_ENGINE_INDEX_RECONCILE_H

#include "engine/index/index_private.h"

/* A directory or regular file as it is in the tree. */
struct tree_entry {
    struct file_key key;
    enum entry_type type;
    struct stat st; /* mode, size, mtime, ctime */
};

/* Look at a name. Returns 0, -ENOENT when nothing that is indexed is there, or an errno. */
int reconcile_look(struct index *index, int dirfd, const char *name, struct tree_entry *ret_entry);

/* Add an entry's rows to the batch. removing: what the name meant before goes; else nothing is done
 * and -EEXIST returned where it meant something else. Returns 1, 0 when the catalogue had it, or an
 * error. */
int reconcile_add(struct index *index, const struct file_key *parent, const char *name,
                  const struct tree_entry *entry, bool removing, struct kv_batch *batch);

/* Remove an entry and, with its last name, what hangs on it. */
int reconcile_remove(struct index *index, const struct file_key *parent, const char *name,
                     const struct file_key *child, enum entry_type type);

/* Whether the file is not, or not as it is now, among the documents. */
bool reconcile_is_new(struct index *index, const struct tree_entry *entry);

#endif
