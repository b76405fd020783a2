/* The lists of words of all bags on their way (Haveliwala, Gionis and Indyk 2000, section 2): bags
 * are weighed by the df of all, made to sum to 100, and turned to lists by words. By a thread of
 * its own, in bounded memory and scratch files. The committer's, but for lists_making_now(), which
 * is anyone's. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_LISTS_MAKING_H
#define KINFS_ENGINE_INDEX_TOPICS_LISTS_MAKING_H

#include <stdbool.h>

#include "base/niceness.h"
#include "store/kv.h"

struct lists_making;

struct lists_making_task {
    struct kv *kv;       /* borrowed, like all of it */
    const char *scratch; /* directory for what does not fit into memory */
    struct niceness *niceness;
    uint32_t epoch; /* of the lists that are read; those that are made are of the next one */
    bool sweeps;    /* none are made: those of other epochs are removed */
};

/* Begin: nothing is waited for. Returns 0, -ENOMEM or -EAGAIN (no thread); ret_making gives. */
int lists_making_start(const struct lists_making_task *task, struct lists_making **ret_making);
/* The thread is done. */
bool lists_making_is_ready(struct lists_making *making);
/* Of one that is ready, how many bags there are. Returns 0 or what went wrong: -ENOSPC, -ENOMEM,
 * -EUCLEAN, -EIO or another error of the store. */
int lists_making_result(const struct lists_making *making, uint64_t *ret_n_bags);
/* Stops the thread where it is not done: within some 0.1 s. NULL allowed. */
void lists_making_free(struct lists_making *making);

/* The same by the caller's own thread. niceness: not asked. */
int lists_making_now(const struct lists_making_task *task, uint64_t *ret_n_bags);

#endif
