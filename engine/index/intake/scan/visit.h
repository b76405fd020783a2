/* A directory against the catalogue, some names at a time: they are looked at, which may take as
 * long as somebody keeps the directory locked, and then entered, which is a step of the
 * committer's.
 *
 * A look may be old when it is entered. Where the committer was told of the name meanwhile, that is
 * what counts, and the look does not (visit_touch()).
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_VISIT_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_VISIT_H

#include "engine/index/index_state.h"

struct visit;

/* set       of the scan's, that directories below are for
 * removing  what is not there (any more) goes, and names mean what they do now; else entries are
 * only added
 *
 * NULL: no memory. */
struct visit *visit_new(struct index *index, const struct file_key *directory, uid_t owner,
                        unsigned set, bool removing);
/* NULL allowed; not while it is looked at. */
void visit_free(struct visit *visit);

const struct file_key *visit_directory(const struct visit *visit);
/* Names that were looked at last. */
size_t visit_n_names(const struct visit *visit);
/* It was read to its end, and has lost or exchanged entries that are not removed. */
bool visit_is_lossy(const struct visit *visit);

/* Looks at the next names, for as long as that takes. Any thread, one at a time, and then nobody
 * else calls anything but visit_touch(). */
void visit_look(struct visit *visit);

/* -- the committer's -- */

/* The meaning of a name of the directory has been looked at just now. */
void visit_touch(struct visit *visit, const char *name);

/* The step to be done next. */
enum visit_next { VISIT_OVER, VISIT_LOOKS, VISIT_STEPS };

/* Enters what was found, or goes through what the catalogue has. Returns an enum visit_next, or an
 * error. */
int visit_step(struct visit *visit);

#endif
