/* When changes are to be taken up: while their makers are at rest, and after a time that is bounded
 * even if they never are. The committer's; the clock is the caller's. */
#ifndef KINFS_ENGINE_INDEX_QUEUE_LULL_H
#define KINFS_ENGINE_INDEX_QUEUE_LULL_H

#include <stdbool.h>
#include <stdint.h>

/* Between two files of a copy or of an unpacked archive there are fractions of a millisecond, and
 * what is done at one go mostly ends within two seconds. */
enum { LULL_REST_MS = 100, LULL_MAX_MS = 2000 };

struct lull {
    bool pending;
    int64_t began_ms, last_ms; /* since when there are changes; the last event that was seen */
    uint64_t n_events;         /* when looked */
};

/* The moment shows whether changes are pending, and how many events, of those who use the tree,
 * there were so far. Returns whether changes are to be taken up; zeroed to begin with. */
bool lull_look(struct lull *lull, bool pending, uint64_t n_events, int64_t now_ms);

#endif
