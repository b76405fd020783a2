/* The work on directories that were let go or are gone (directory_removal.h); the committer's. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_DIRECTORY_REMOVAL_STEP_H
#define KINFS_ENGINE_INDEX_INTAKE_DIRECTORY_REMOVAL_STEP_H

#include "engine/index/intake/directory_removal.h"

struct tree_entry;

/* reconcile_put(), and then a look for the directory that had the name, if one had. */
int directory_removal_put(struct index *index, const struct file_key *parent, const char *name,
                          const struct tree_entry *entry);

/* Looks for some that were let go, as far as that is soon done; nothing, while one is looked for.
 * 0, or a store error. */
int directory_removal_look(struct index *index);

/* Looks for some, or takes away some entries of one that is gone; not when idle. 0, or a store
 * error. */
int directory_removal_step(struct index *index);
/* -- what directory_removal.c does for it -- */

enum { REMOVAL_LET_GO = 1, REMOVAL_GONE = 2 };
/* The work left that is noted of a directory, or an error. */
int directory_removal_left(struct kv *kv, const struct file_key *directory);
int directory_removal_note_done(struct index *index, const struct file_key *directory, int done);
bool removal_set_is_over(const struct removal_set *set);
/* All is done; who waits for it is told. */
void directory_removal_end(struct index *index);

#endif
