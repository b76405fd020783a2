#include "engine/index/intake/snapshot.h"

#include <errno.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/committer.h"

struct snapshot_wish {
    struct kv *snapshot;
    bool done;
    int error;
};

void snapshot_grant(struct index *index)
{
    struct snapshot_wish *wish;
    {
        LOCKED(&index->lock);
        wish = index->snapshot_wish;
        index->snapshot_wish = NULL;
    }
    if (!wish)
        return;
    struct kv *snapshot = NULL;
    int r = committer_flush(index);
    if (r == 0)
        r = kv_snapshot(index->kv, &snapshot);
    LOCKED(&index->lock);
    wish->snapshot = snapshot;
    wish->error = r;
    wish->done = true;
    pthread_cond_broadcast(&index->background_changed);
}

int snapshot_take(struct index *index, struct kv **ret_snapshot)
{
    struct snapshot_wish wish = {0};
    LOCKED(&index->lock);
    while (index->snapshot_wish && !index->stop)
        pthread_cond_wait(&index->background_changed, &index->lock);
    if (index->stop)
        return -ESHUTDOWN;
    index->snapshot_wish = &wish;
    pthread_cond_signal(&index->wake_committer);
    while (!wish.done) {
        if (index->stop && index->snapshot_wish == &wish) { /* nobody will take it up */
            index->snapshot_wish = NULL;
            return -ESHUTDOWN;
        }
        pthread_cond_wait(&index->background_changed, &index->lock);
    }
    *ret_snapshot = wish.snapshot;
    return wish.error;
}
