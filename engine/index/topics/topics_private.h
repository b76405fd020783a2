/* The struct that the parts of topics.h share. */
#ifndef KINFS_ENGINE_INDEX_TOPICS_TOPICS_PRIVATE_H
#define KINFS_ENGINE_INDEX_TOPICS_TOPICS_PRIVATE_H

#include <pthread.h>

#include "base/background_task.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/topics/lists_making.h"
#include "engine/index/topics/topics.h"

struct topics {
    struct topics_of of;
    enum topics_kind kind;
    struct remade *remade; /* of the lists */
    struct remade *decided[TOPICS_DECIDES_MOST];
    size_t n_decided;
    struct background_task *making; /* or NULL; the committer's, like what follows */
    struct lists_making_task task;  /* of it */
    bool has_others;                /* there may be such */
    uint64_t n_changes;             /* when making began */
    int64_t began_ms;
    pthread_mutex_t lock; /* of what follows */
    struct topics_epoch epoch;
};

/* The row of the epoch. Returns 0, also where there is none: epoch 0; -EUCLEAN or a store error. */
int topics_read_epoch(struct kv *kv, struct topics_epoch *ret_epoch);
int topics_put_epoch(struct kv *kv, const struct topics_epoch *epoch);

#endif
