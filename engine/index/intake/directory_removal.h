/* Directories that have lost a name, which may have been their last, and what hangs on those that
 * are gone; the committer's.
 *
 * A directory that is removed, or moved out of the tree, with all that is below it, may hold any
 * number of documents. It loses its name at once, so that no answer has a path by it; its entries
 * go in steps of some milliseconds, behind what users do. One that may be in the tree after all,
 * which only many looks would tell, is let go: it is looked for first. Until then TABLE_INTENTS has
 * it, once, however often it is moved:
 *
 *   "removed" | key -> what is left to do, one byte, and where it was, as far as that is known
 *                      (the key with its size before it)
 *
 * One that comes back meanwhile is seen to be below the root, and is left to the scan that finds
 * it.
 *
 * Rounds: what comes while a round is worked at belongs to the next. So nobody who makes
 * directories and removes them keeps another's from their end, or who waits for it.
 *
 * Memory: a key each, some 21 bytes; those below one that goes come on top of it, so that there are
 * no more of them than the tree is deep and wide. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_DIRECTORY_REMOVAL_H
#define KINFS_ENGINE_INDEX_INTAKE_DIRECTORY_REMOVAL_H

#include <limits.h>

#include "engine/index/intake/scan/key_stack.h"

struct index;
struct kv;

/* Directories of which some entries went, each in one of those before it: of as many it is known
 * how far that is. Of others all entries that went are passed over once more, when what is in this
 * many directories below has gone. */
enum { REMOVAL_PLACES = 64 };
struct removal_place {
    struct file_key directory;
    char name[NAME_MAX + 1];
};

struct directory_removal {
    struct removal_set {
        struct key_stack let_go; /* to be looked for */
        struct key_stack gone;   /* whose entries are to go */
    } sets[2];
    unsigned now; /* of the sets, that is worked at; what comes goes to the other */
    bool is_stepping, is_looking;
    struct removal_place places[REMOVAL_PLACES];
    size_t n_places; /* that were taken, one after the other and round */
};

/* A directory is about to lose its last name, and is not in the tree. path: where it is, as long as
 * that is known (leaving.h); else NULL. 0, or a store error. */
int directory_removal_add(struct index *index, const struct file_key *directory, const char *path);

/* A directory is about to lose a name, and may be in the tree without it. 0, or a store error. */
int directory_removal_let_go(struct index *index, const struct file_key *directory,
                             const char *path);

/* The path that such a directory had. Returns 0, -ENOENT, -ENOMEM or a store error; gives. */
int directory_removal_path(struct kv *kv, const struct file_key *directory, char **ret_path);

/* A directory was let go, or is gone and what hung on it may still be there: 1, 0, or a store
 * error. */
int directory_removal_is_noted(struct kv *kv, const struct file_key *directory);

/* Removals that the store has noted are to be done, and no others: those of an earlier run; before
 * any thread runs, or the committer's, once the store can be written again. */
int directory_removal_recover(struct index *index);

bool directory_removal_is_idle(const struct index *index);
void directory_removal_done(struct index *index);

#endif
