/* Workers: threads that read documents and sketch them. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_WORKER_H
#define KINFS_ENGINE_INDEX_INTAKE_WORKER_H

void *worker_run(void *index);
void *worker_run_slow(void *index);

#endif
