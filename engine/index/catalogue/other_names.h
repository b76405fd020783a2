/* An inode may have another name than those that go; and a directory may be below the root, or in a
 * circle.
 *
 * A directory that is moved while nobody looks leaves a link behind, which may lead to what is in
 * it now: a circle, whose directories all have names and are nowhere in the tree. */
#ifndef KINFS_ENGINE_INDEX_CATALOGUE_OTHER_NAMES_H
#define KINFS_ENGINE_INDEX_CATALOGUE_OTHER_NAMES_H

#include <limits.h>

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

/* -- directories -- */

/* A path that a system call takes has half as many names. */
enum { CLIMB_NEAR = 64, CLIMB_FAR = PATH_MAX };

/* A chain of links leads from a directory up to the root, without those through another one.
 *
 * without  that, or NULL
 * left     how many directories may be climbed yet
 *
 * Returns 1, 0, -E2BIG when these were not enough, or an error. */
int directory_leads_up(struct kv *kv, const struct file_key *root, const struct file_key *directory,
                       const struct file_key *without, unsigned *left);

/* The same of other names of a directory than one that goes; NULL: of all. */
int other_names_lead_up(struct kv *kv, const struct file_key *root,
                        const struct file_key *directory, const struct catalogue_name *going,
                        unsigned *left);

#endif
