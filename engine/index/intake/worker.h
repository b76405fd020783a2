/* Workers: threads that read documents and sketch them. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_WORKER_H
#define KINFS_ENGINE_INDEX_INTAKE_WORKER_H

struct file_key;
struct index;

void *worker_run(void *index);
void *worker_run_slow(void *index);
/* A descriptor of a document or directory, by its key or, without handles, by a path of it, which
 * takes rows of the catalogue. Any thread, under no lock. Returns the descriptor, -ESTALE or
 * -ENOENT where it is no more, or another errno of opening it. */
int worker_open(struct index *index, const struct file_key *key, int flags);
/* To read a document; that leaves the access time alone where the kernel lets us. */
int worker_open_document(struct index *index, const struct file_key *key);

#endif
