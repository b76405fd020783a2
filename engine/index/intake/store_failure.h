/* A store that fails, of a full disk perhaps: nothing waits for it. Changes are dropped and
 * counted, the store is tried again from time to time, and a scan finds what was missed. A damaged
 * store is not tried again: only a rebuild mends it. It is logged once, and so is its end. The
 * committer's.
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_STORE_FAILURE_H
#define KINFS_ENGINE_INDEX_INTAKE_STORE_FAILURE_H

struct index;

/* A call of the store has failed: index->store_error says so from now on, a scan is wanted, and
 * resume_at_ms is when to try again. -EUCLEAN: the store is given up for good, and who waits for a
 * scan is told. -ESHUTDOWN, which is the queue's, is none. */
void store_failure_meet(struct index *index, int error);

/* Try to write again, with what was interrupted. Returns 0, and the failure has gone, or the error
 * that stands, to be met once more. */
int store_failure_resume(struct index *index);

/* Tell the end of a failure, where there was one, once all that it left undone has been written:
 * what stands in the way may lie in one row, and would fail and pass every other second. */
void store_failure_tell_end(struct index *index);

#endif
