/* Documents into the store and out of it; the committer's. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_COMMIT_H
#define KINFS_ENGINE_INDEX_INTAKE_COMMIT_H

#include <stddef.h>

#include "base/files/file_key.h"
#include "engine/index/intake/result.h"

struct index;

/* Results of workers, of each file once, go into the store: at most RESULTS_AT_ONCE. Within a step
 * of the committer's, and with a store that can be written; the results remain the caller's. 0, or
 * a store error: then some may be half committed, which commit_recover() finishes, and what is
 * missing a scan finds. */
int commit_results(struct index *index, struct result *const *results, size_t n);
/* Remove a document and its row. 0, or a store error. */
int commit_drop_document(struct index *index, const struct file_key *file);
/* Many at once, each file once: cheaper where they resemble each other.
 *
 * places  their last names, which go, so that their end is noted in the past; NULL: none does */
int commit_drop_documents(struct index *index, const struct file_key *files,
                          const struct catalogue_entry *const *places, size_t n);

/* After a crash, before any thread runs, or after a failure of the store. */
int commit_recover(struct index *index);

#endif
