/* Whether an inode has another name than those that go. */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_OTHER_NAMES_H
#define KINFS_ENGINE_INDEX_CATALOGUE_OTHER_NAMES_H

#include "engine/index/catalogue/catalogue.h"

enum { OTHER_NAMES_LINKS = 64 };

/* Returns 1, 0, or an error. One look for all its names, or two, and one for each that is looked
 * at. Names that are removed leave a trace in the store, which the look has to pass: so ask once
 * for all names of an inode that go.
 *
 * going  names of the inode, n_going of them */
int other_names_exist(struct kv *kv, const struct file_key *child,
                      const struct catalogue_name *going, size_t n_going);

/* The same; links are the first OTHER_NAMES_LINKS of the inode. */
int other_names_exist_beside(struct kv *kv, const struct catalogue_list *links,
                             const struct file_key *child, const struct catalogue_name *going,
                             size_t n_going);

#endif
