/* The scan of the whole tree that somebody asked for. The committer's.
 *
 * Any user can make changes that only a scan of the whole tree makes good. So the next scan begins
 * some time after the last one, by what that took; but at once where somebody waits for it. A
 * directory that is to be scanned does not wait for that (scan_join_directory()).
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_WANTED_SCAN_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_WANTED_SCAN_H

#include <stdbool.h>

struct index;

/* A scan of the whole tree is not to begin yet. */
bool wanted_scan_is_to_wait(struct index *index);
/* Some scan is wanted, or a visit is back, and that is not to wait. Under the index's lock. */
bool wanted_scan_is_there(struct index *index, bool is_to_wait);
/* Begins the scan that is wanted, if there is one that is not to wait. 0, or an error. */
int wanted_scan_begin(struct index *index);
/* Who waits is told whether a scan runs, after a step. */
void wanted_scan_tell(struct index *index);

/* True: the first scan of the whole tree runs, or what it has found is not all read, and the store
 * can be written. At its end the log is told. */
bool wanted_scan_log_first(struct index *index);

#endif
