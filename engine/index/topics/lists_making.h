/* The lists of words of all bags on their way (Haveliwala, Gionis and Indyk 2000, section 2), and
 * before them what others say of each document (anchors_making.h), where that is wanted: bags are
 * weighed by the df of all, made to sum to 100, and turned to lists by words. In bounded memory and
 * scratch files. Anyone's. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_LISTS_MAKING_H
#define KINFS_ENGINE_INDEX_TOPICS_LISTS_MAKING_H

#include <stdbool.h>

#include "engine/index/topics/topics.h"

struct lists_making_task {
    struct kv *kv; /* borrowed, like all of it */
    enum topics_kind kind;
    const struct file_key *root; /* of the tree */
    const char *scratch;         /* directory for what does not fit into memory */
    uint32_t epoch;  /* of the lists that are read; those that are made are of the next one */
    bool sweeps;     /* none are made: those of other epochs are removed */
    uint64_t n_bags; /* 0 before: how many there are */
};

/* A background_work on a task. Returns 0 or what went wrong: -ENOSPC, -ENOMEM, -EUCLEAN, -EIO or
 * another error of the store. Stops within some 0.1 s. */
int lists_making_work(void *task, const bool *stop);

#endif
