/* The committer: the one thread that changes the store. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_COMMITTER_H
#define KINFS_ENGINE_INDEX_INTAKE_COMMITTER_H

struct index;

void *committer_run(void *index);
int committer_flush(struct index *index); /* also what stands in the way of writing */
/* When no thread runs any more: their changes go with the queue, and the next start finds them. */
void committer_drop_results(struct index *index); /* and looks */

#endif
