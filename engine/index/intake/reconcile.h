/* One entry of the tree against the catalogue. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_RECONCILE_H
#define KINFS_ENGINE_INDEX_INTAKE_RECONCILE_H

#include "engine/index/index_state.h"

/* A directory or regular file as it is in the tree. */
struct tree_entry {
    struct file_key key;
    enum entry_type type;
    struct stat st;   /* mode, size, mtime, ctime, owner */
    uint64_t born_ns; /* of a directory, when it was made: time of day; 0: nobody knows */
};

/* A lister's look at the name of a CHANGE_ENTRY; the committer's from then on. */
struct name_look {
    STAILQ_ENTRY(name_look) next;
    struct change *change;
    int result;             /* of reconcile_look(), or why the directory could not be opened */
    bool is_directory_gone; /* when it was to be opened */
    struct tree_entry entry;
};

/* -- any thread -- */

/* A directory is part of what is indexed, so that its entries are: also what is on its way out with
 * a directory that is gone. Returns 1, 0 or a store error. */
int reconcile_is_known(struct index *index, const struct file_key *directory);

/* Look at a name. Nothing that is mounted there is asked for anything. Returns 0, -ENOENT when
 * nothing that is indexed is there, -EXDEV when something is mounted over it, or another errno. */
int reconcile_look(struct index *index, const struct file_key *parent, int dirfd, const char *name,
                   struct tree_entry *ret_entry);

/* The same without ever waiting for the directory; -EAGAIN where that would have to be. */
int reconcile_look_cached(struct index *index, const struct file_key *parent, int dirfd,
                          const char *name, struct tree_entry *ret_entry);

/* An error of looking at something is a property of it (no right to, not there any more) rather
 * than of the moment, so that coming back would not help. */
bool reconcile_may_pass_over(int error);

/* -- the committer's -- */

/* Entries in this order, at most RECONCILE_AT_ONCE.
 *
 * looks   at their names; NULL: they are looked at as far as that needs no waiting
 * owners  RECONCILE_NOBODY; set to the owner of its directory where a lister is to look at an entry
 *         first, of which nothing was done
 *
 * Returns 0 or a store error. */
enum { RECONCILE_AT_ONCE = 512 };
#define RECONCILE_NOBODY ((uid_t)-1)
int reconcile_entries(struct index *index, struct change *const *changes,
                      struct name_look *const *looks, size_t n, uid_t *owners);

/* Say that what is known under a name is left out, since something is mounted over it. */
void reconcile_tell_covered(struct index *index, const struct file_key *parent, const char *name);

/* Write rows by which names come or go: links may lead elsewhere then. Returns 0, -ENOMEM or a
 * store error. */
int reconcile_write(struct index *index, const struct kv_batch *batch);

/* Add an entry's rows to the batch if the name is free. known: what the name means. Returns 1, 0
 * when the catalogue had it, or -EEXIST (nothing done) where the name means something else. */
int reconcile_add(const struct file_key *parent, const char *name, const struct tree_entry *entry,
                  const struct catalogue_meaning *known, struct kv_batch *batch);

/* Make the name mean this entry; what it meant before goes, or moves to where it is now. Returns 1,
 * 0 when it was so already, or an error. */
int reconcile_put(struct index *index, const struct file_key *parent, const char *name,
                  const struct tree_entry *entry);

/* Remove an entry and, with its last name, what hangs on it; a directory that lives on in the tree
 * is put where it is, which may be here. */
int reconcile_remove(struct index *index, const struct file_key *parent, const char *name,
                     const struct file_key *child, enum entry_type type);

/* The same for many; their documents go together.
 *
 * put  n_put names that were put into the catalogue just now, NULL: none. One who is renamed is
 *      found to live on there, without a look for all its names */
int reconcile_remove_all(struct index *index, const struct catalogue_entry *entries, size_t n,
                         const struct catalogue_entry *put, size_t n_put);

/* Take names off the files that they mean, where they are to mean something else: those that are to
 * mean other files do so then, and those that are to mean directories are free. Names of which that
 * is not so stay as they are.
 *
 * now  what they are to mean
 * put  as above */
int reconcile_take_names(struct index *index, const struct catalogue_entry *now, size_t n,
                         const struct catalogue_entry *put, size_t n_put);

/* Remove some entries of a directory that is gone, those behind a name ("": the first), which then
 * is the last of them. Returns 1, 0 when there were none, or an error. */
int reconcile_remove_some(struct index *index, const struct file_key *directory,
                          char after[NAME_MAX + 1]);

/* The states of files among the documents: as they are now, as they were, or not at all. By one
 * look.
 */
enum stored_state { STORED_CURRENT, STORED_OLD, STORED_NOT };
void reconcile_states(struct index *index, const struct tree_entry *const *entries, size_t n,
                      enum stored_state *ret_states);

#endif
