/* What hangs on directories that are gone from the tree, taken away piece by piece; the
 * committer's.
 *
 * A directory that is removed, or moved out of the tree, with all that is below it, may hold any
 * number of documents. It loses its name at once, so that no answer has a path by it; its entries
 * go in steps of some milliseconds, behind what users do. Until then TABLE_INTENTS has it:
 *
 *   "removed" | key -> nothing                               (the key with its size before it)
 *
 * One that comes back meanwhile is seen to be below the root, and is left to the scan that finds
 * it.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_DIRECTORY_REMOVAL_H
#define KINFS_ENGINE_INDEX_INTAKE_DIRECTORY_REMOVAL_H

#include "engine/index/index_private.h"

/* A directory is about to lose its last name. 0, or a store error. */
int directory_removal_add(struct index *index, const struct file_key *directory);

/* Whether a directory lost its last name and what hung on it may still be there: 1, 0, or a store
 * error. */
int directory_removal_is_noted(struct kv *kv, const struct file_key *directory);

/* What an earlier run has left; before any thread runs. */
int directory_removal_recover(struct index *index);

/* There is something for directory_removal_step() again. */
void directory_removal_go_on(struct index *index);

#endif
