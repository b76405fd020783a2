/* Names of the tree are left out, so that what has them is no document: by the rules of whoever
 * opened the index, by the ignore files of directories, and by default (engine/ignore). Of these
 * the first that says something about a name decides, of the files that of the nearest directory.
 *
 * The rules of a directory, its own file's and those of all above it, are read when it is first
 * asked about, and kept until a directory loses a name or an ignore file is noted. Ignore files
 * count IGNORE_DEPTH_MAX directories down, below that names alone are asked for.
 *
 * Threads: any, but where it is said otherwise.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_IGNORED_IGNORED_H
#define KINFS_ENGINE_INDEX_INTAKE_IGNORED_IGNORED_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/files/file_key.h"

struct index;
struct ignore_rules;
struct ignored;

/* own  the rules of whoever opens the index, borrowed; NULL: none
 *
 * NULL: no memory. */
struct ignored *ignored_new(const struct ignore_rules *own);
/* NULL allowed. */
void ignored_free(struct ignored *ignored);

/* A name in a directory is left out. An ignore file is never left out by another: its changes would
 * not be seen.
 *
 * may_wait  for the directories above and for their ignore files, where they are not known yet
 *
 * Returns 1, 0, -EAGAIN where it would have to wait, or -ENOMEM. Some 100 ns a rule. */
int ignored_ask(struct index *index, const struct file_key *directory, const char *name,
                bool is_directory, bool may_wait);

/* One that is forgotten while its file is read is read again, and with it those that count by the
 * same hash: hardly any of another user's. */
enum { IGNORED_COUNTS = 4096 };

/* A directory has lost or changed its name, or its ignore file has changed: of it and those below
 * it places and files are looked for anew. */
void ignored_forget(struct ignored *ignored, const struct file_key *directory);

/* The ignore file of a directory may have changed, or the directory come to other ignore files:
 * what is below it is looked at anew, beside the scan that runs, and whatever scan of the whole
 * tree has to wait; but of an owner who has many of them, or has had until the scan has rested from
 * them, with the whole tree. The committer's.
 *
 * owner  of the directory */
void ignored_changed(struct index *index, const struct file_key *directory, uid_t owner);

/* A directory has another place: where some rule decides by that it is the same. The committer's.
 *
 * is_known  it was in the index; false: it is where something in it is known
 *
 * Returns 0, or an error. */
int ignored_moved(struct index *index, const struct file_key *directory, uid_t owner,
                  bool is_known);

/* The same of its ignore file alone, which was looked at. The committer's.
 *
 * dirfd  of the directory, or an error
 * st     of the file; NULL: it is not there */
void ignored_note_file(struct index *index, const struct file_key *directory, int dirfd,
                       const struct stat *st);

/* Some rule decides by the place of a directory about what is in it. */
bool ignored_by_place(struct ignored *ignored);

#endif
