/* When changes that are held back are to be taken up (change_queue_hold()): as soon as no more
 * come, and while they go on coming after a time that is bounded. The committer's; the clock is the
 * caller's. */
#ifndef KINFS_ENGINE_INDEX_LULL_H
#define KINFS_ENGINE_INDEX_LULL_H

#include <stdbool.h>
#include <stdint.h>

/* Between two files of a copy or of an unpacked archive there are fractions of a millisecond, and
 * what is done at one go mostly ends within two seconds. */
enum { LULL_REST_MS = 100, LULL_MAX_MS = 2000 };

struct lull {
    bool waiting;
    int64_t began_ms, looked_ms;
    uint64_t n_notes; /* when looked */
};

/* What is so now: whether changes are held back, and how many notices there were so far. Returns
 * whether they are to be taken up; zeroed to begin with. */
bool lull_look(struct lull *lull, bool holding, uint64_t n_notes, int64_t now_ms);

#endif
