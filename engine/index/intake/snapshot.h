/* A snapshot of the store at rest: the committer flushes its postings between two steps and takes
 * it; it is then read beside the committer's further work. */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SNAPSHOT_H
#define KINFS_ENGINE_INDEX_INTAKE_SNAPSHOT_H

struct index;
struct kv;

/* Waits for one: it belongs to who asks. Any thread but the committer. Returns 0, -ESHUTDOWN where
 * the index ends, or a store error. */
int snapshot_take(struct index *index, struct kv **ret_snapshot);

/* Between two steps: a snapshot for who waits for one. The committer's. */
void snapshot_grant(struct index *index);

#endif
