/* The scan of the whole tree that somebody asked for. The committer's.
 *
 * Any user can make changes that only a scan of the whole tree makes good. So the next scan begins
 * some time after the last one, by what that took; but at once where somebody waits for it. A
 * directory that is to be scanned does not wait for that (scan_join_directory()).
 */
#ifndef KINFS_ENGINE_INDEX_INTAKE_SCAN_WANTED_SCAN_H
#define KINFS_ENGINE_INDEX_INTAKE_SCAN_WANTED_SCAN_H

#include <stdbool.h>
#include <stdint.h>

struct index;

/* A scan of the whole tree is not to begin yet. */
bool wanted_scan_is_to_wait(struct index *index);
/* Some scan is wanted, or a visit is back, and that is not to wait. Under the index's lock. */
bool wanted_scan_is_there(struct index *index, bool is_to_wait);
/* How long a scan has the committer rest that has taken so long. */
static inline int64_t wanted_scan_rest_ms(int64_t spent_us)
{
    enum { REST_OF_SPENT = 10, REST_MAX_MS = 300000 };
    const int64_t rest_ms = spent_us * REST_OF_SPENT / 1000;
    return rest_ms < REST_MAX_MS ? rest_ms : REST_MAX_MS;
}

/* Begins the scan that is wanted, if there is one that is not to wait. 0, or an error. */
int wanted_scan_begin(struct index *index);
/* Who waits is told whether a scan runs, after a step. */
void wanted_scan_tell(struct index *index);

/* True: the first scan of the whole tree runs, or what it has found is not all read, and the store
 * can be written. At its end the log is told. */
bool wanted_scan_log_first(struct index *index);

#endif
