/* The committer: the one thread that changes the store (index_state.h has the exception). */
#ifndef KINFS_ENGINE_INDEX_INTAKE_COMMITTER_H
#define KINFS_ENGINE_INDEX_INTAKE_COMMITTER_H

struct index;

void *committer_run(void *index);
/* Writes the postings that are in memory. Returns 0, a store error, or the one for which nothing is
 * written for now. The committer's; for others when no thread runs any more. */
int committer_flush(struct index *index);

#endif
