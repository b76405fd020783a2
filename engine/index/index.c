/* The index as a whole: its threads are started and stopped, and it is closed. */
#include "engine/index/index.h"

#include <errno.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/looks.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/below.h"
#include "engine/index/intake/committer.h"
#include "engine/index/intake/scan/scan.h"
#include "engine/index/intake/worker.h"
#include "engine/index/store_directory.h"

enum {
    N_LISTERS = 4,  /* they do little but wait */
    N_OPENERS = 64, /* likewise; half of them for one owner's files, if many ask at once */
    /* Each may open at once what one user owns, with half of them kept by what another has. */
    OPENERS_OF_WORKER = 4,
    WORKERS_MAX = 8,
};

/* Fewer do as well; none do not. */
static int start_threads(struct index *index, unsigned n, void *(*run)(void *index))
{
    for (unsigned i = 0; i < n; i++) {
        int r = pthread_create(&index->threads[index->n_started], NULL, run, index);
        if (r)
            return i == 0 ? -r : 0;
        index->n_started++;
    }
    return 0;
}

/* One is left for what another owns than that which is worked on. */
static void bound_turns(struct index *index, enum change_kind kind, unsigned n_threads)
{
    change_queue_bound_turns(index->queue, kind, n_threads > 1 ? n_threads - 1 : 1);
}

int index_start(struct index *index)
{
    unsigned n = index->n_workers;
    if (!n) {
        long online = sysconf(_SC_NPROCESSORS_ONLN);
        n = online < 1 ? 1 : online > WORKERS_MAX ? WORKERS_MAX : (unsigned)online;
    }
    const unsigned n_slow = n + 1;
    index->threads = calloc((size_t)n + n_slow + N_LISTERS + N_SCANNERS, sizeof(*index->threads));
    if (!index->threads)
        return -ENOMEM;
    change_queue_hold(index->queue);
    int r = index->openers ? 0 : looks_new(N_OPENERS + OPENERS_OF_WORKER * n, &index->openers);
    if (r < 0)
        return r;
    r = pthread_create(&index->committer, NULL, committer_run, index);
    if (r)
        return -r;
    index->started = true;
    index->committer_has_ended = false;
    start_threads(index, n_slow, worker_run_slow);
    index->n_slow = index->n_started;
    bound_turns(index, CHANGE_SLOW_CONTENT, index->n_slow);
    r = start_threads(index, n, worker_run);
    const unsigned n_others = index->n_started;
    if (r == 0)
        r = start_threads(index, N_LISTERS, below_run);
    if (r < 0)
        return r;
    bound_turns(index, CHANGE_BELOW, index->n_started - n_others);
    r = start_threads(index, 1, scan_run); /* others when there is work for them */
    if (r < 0)
        return r;
    index->n_scanners = 1;
    index_rescan(index);
    return 0;
}

/* Its end is that of all writing into the store. */
static void end_committer(struct index *index)
{
    if (!index->started || index->committer_has_ended)
        return;
    change_queue_shut_down(index->queue);
    {
        LOCKED(&index->lock);
        index->stop = true;
        pthread_cond_broadcast(&index->wake_committer);
        pthread_cond_broadcast(&index->wake_scanners);
        pthread_cond_broadcast(&index->results_taken);
        pthread_cond_broadcast(&index->background_changed);
    }
    pthread_join(index->committer, NULL);
    named_clusterings_stop(&index->named);
    if (index->topics)
        topics_stop(index->topics);
    index->committer_has_ended = true;
}

void index_stop(struct index *index)
{
    if (!index->started)
        return;
    {
        LOCKED(&index->ending);
        end_committer(index);
    }
    for (unsigned i = 0; i < index->n_started; i++)
        pthread_join(index->threads[i], NULL);
    results_drop(index);
    looks_free(index->openers);
    index->openers = NULL;
    index->started = false;
}

void index_end(struct index *index, unsigned wait_ms)
{
    LOCKED(&index->ending);
    if (index->is_stored)
        return;
    index->is_stored = true;
    index_settle(index, INDEX_LANE_FOREGROUND, (int)wait_ms);
    end_committer(index);
    int r = committer_flush(index);
    if (r == 0)
        r = document_counts_store(&index->counts);
    if (r == 0)
        r = kv_checkpoint(index->kv);
    if (r < 0)
        messages_log(&index->messages, INDEX_LOG_ERROR,
                     "store %s: %s; the next start repeats what is missing", index->store_path,
                     strerror(-r));
}

void index_let_go(struct index *index)
{
    kv_let_go(index->kv);
    if (index->directory >= 0)
        flock(index->directory, LOCK_UN);
}

void index_close(struct index *index, unsigned wait_ms)
{
    if (!index)
        return;
    index_end(index, wait_ms);
    index_stop(index);
    index_free(index);
}

void index_abandon(struct index *index, const char *other)
{
    if (!index)
        return;
    if (index->started || !index->directory_made || atomic_load(&index->counts.n_documents)) {
        index_close(index, 0);
        return;
    }
    _cleanup_close_ int directory = TAKE_FD(index->directory);
    (void)directory; /* held until the end */
    _cleanup_free_ char *path = TAKE_PTR(index->store_path);
    index_free(index);
    const char *const others[] = {other, NULL};
    (void)store_directory_remove(path, others);
}

int index_remove_store(const char *store_path, const char *const *others, char **ret_error)
{
    _cleanup_close_ int directory = -1;
    int r = store_directory_take(store_path, "", -1, false, &directory, NULL, ret_error);
    if (r < 0) /* of another directory, or no directory, there is no store in it */
        return r == -ENOTEMPTY || r == -ENOTDIR ? -ENOENT : r;
    r = store_directory_remove(store_path, others);
    if (r == -ENOTEMPTY)
        return index_refuse(ret_error, r,
                            "%s: the store is removed, but there are other files in its directory; "
                            "see to them",
                            store_path);
    return r < 0 ? index_refuse(ret_error, r, "%s: not all of the store can be removed: %s",
                                store_path, strerror(-r))
                 : 0;
}

uint64_t index_store_bytes(const char *store_path)
{
    return store_directory_usage(store_path);
}
