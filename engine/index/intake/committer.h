/* The committer: the one thread that changes the store (index_state.h has the exception). */
#ifndef KINFS_ENGINE_INDEX_INTAKE_COMMITTER_H
#define KINFS_ENGINE_INDEX_INTAKE_COMMITTER_H

struct index;

void *committer_run(void *index);
/* Writes the postings that are in memory, when no thread runs any more. 0, a store error, or the
 * one for which nothing is written for now. */
int committer_flush(struct index *index);
/* Frees results and looks that were not taken, when no thread runs any more: their changes go with
 * the queue, and the next start finds them. */
void committer_drop_results(struct index *index);

#endif
