/* The directories that wait for the scan, whose turn it is not, and when that is over; the
 * committer's, but where it is said otherwise. How a scan goes: scan.c. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_SCAN_SETS_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_SCAN_SETS_H

#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/scan/scan.h"

/* Nothing is to be done, or looked at. */
bool scan_is_idle(const struct index *index);
/* The same, but for what is kept locked. */
bool scan_is_over(const struct index *index);
/* The scan that ran is over but for what is kept locked, and what came since begins, and another
 * may. */
bool scan_may_begin(struct index *index);
/* Scan a directory with those of a set: 0 or 1, an index of scan.sets (scan.now is that of the scan
 * that runs). Under no lock: it takes the index's. Returns 0 or -ENOMEM. */
int scan_add_directory(struct index *index, const struct file_key *directory, uid_t owner,
                       unsigned set);
/* The same of a directory that a visit has found; is_new: the catalogue did not have it there. A
 * set takes each once. One that was taken has been found again, so it has moved, and one that came
 * to be since the set that runs began is not its to wait for: either joins the next set. So who
 * makes directories, or moves them about, in front of the scan keeps it from no end. */
int scan_add_found(struct index *index, const struct tree_entry *directory, unsigned set,
                   bool is_new);
/* A visit has found that a directory has lost entries. Returns 0 or -ENOMEM. */
int scan_add_lossy(struct index *index, const struct file_key *directory, uid_t owner,
                   unsigned set);
/* A directory not seen before hangs in the tree, or other names of it are left out: scan it beside
 * what is scanned. It is taken once a set, however often somebody renames it: one that has been
 * comes with the next set, and where more of an owner wait than there is room for, a scan of the
 * tree is to find the rest, and the owner is not waited for. */
int scan_join_directory(struct index *index, const struct file_key *directory, uid_t owner);
/* A directory that was known has another name: the first pass may not have come by where it was,
 * and have been where it is. */
int scan_join_moved(struct index *index, const struct file_key *directory, uid_t owner);
/* A directory does not wait among those of a set any more. Returns 0 or -ENOMEM. */
int scan_is_taken(struct scan *scan, unsigned set, const struct file_key *directory);
/* Directories that the set which others join has taken are taken again where it finds them, or they
 * join, as other names are left out. Returns 0 or -ENOMEM. */
int scan_forget_taken(struct scan *scan);
/* As scan_join_directory(), from any thread; never fails. */
void scan_want_directory(struct index *index, const struct file_key *directory, uid_t owner);
/* Scan what others want. 0, or an error. */
int scan_take_wanted(struct index *index);
void scan_sets_forget(struct scan *scan);

/* The first pass over a set is over but for owners who are stuck. */
bool scan_is_all_added(const struct scan *scan, unsigned set);

/* Nothing of a set, and of the one that runs before it, is to be found any more, but for owners who
 * are stuck: so what is missing may go. */
bool scan_may_remove(const struct scan *scan, unsigned set);

/* An owner's directories have taken longer than their names explain, and are not waited for. */
bool scan_is_stuck(const struct scan *scan, uid_t owner);
bool scan_has_visit(const struct scan *scan, uid_t owner);
/* A look at so many names is over that has taken so long. */
void scan_count_look(struct scan *scan, uid_t owner, size_t n_names, int64_t ms);

#endif
