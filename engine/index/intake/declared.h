/* The declarations of a file (tables/distinct.h) hold of the one that takes its name. Where the
 * old one has other names it holds of both then: so it is with an editor that gives the old file a
 * name of its own, makes a new one, and removes the old one when that is written.
 *
 * Nothing that is declared goes with its file, as a file may have a new name that is not known yet.
 * So whoever links a declared file, and puts files in the place of the links, would fill the disk
 * with rows: DECLARED_COPIES_MAX such copies are followed at a time. One of two files that came of
 * a copy and goes takes its rows with it, as the other has them.
 *
 * Example: f is declared, and gets the name f~; g is made as f. Now (f, g) is a copy, and both have
 * the rows. f~ is removed: f has no rows any more, and there is no copy.
 *
 * Threads: the committer's.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_DECLARED_H
#define KINFS_ENGINE_INDEX_INTAKE_DECLARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/files/file_key.h"

struct index;

enum { DECLARED_COPIES_MAX = 256 };

/* Copies hang together without circles: there are as many files more with rows as copies. */
struct declared_copies {
    uint64_t files[DECLARED_COPIES_MAX][2]; /* file_key_hash() */
    size_t n;
};

/* A name means another file now. Returns 0, or an error of the store.
 *
 * lives  the file before is known to have another name; false: that is looked for */
int declared_carry(struct index *index, const struct file_key *parent, const char *name,
                   const struct file_key *before, const struct file_key *now, bool lives);

/* A file has lost its last name. Returns 0, or an error of the store. */
int declared_let_go(struct index *index, const struct file_key *file);

#endif
