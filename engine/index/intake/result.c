#include "engine/index/intake/result.h"

#include <stdlib.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/reconcile.h"

size_t results_take(struct index *index, struct result **ret_results)
{
    LOCKED(&index->lock);
    size_t n = 0;
    for (; n < RESULTS_AT_ONCE && !STAILQ_EMPTY(&index->results); n++) {
        ret_results[n] = STAILQ_FIRST(&index->results);
        STAILQ_REMOVE_HEAD(&index->results, next);
    }
    index->n_results -= n;
    index->results_are_awaited &= index->n_results > 0;
    if (n)
        pthread_cond_broadcast(&index->results_taken);
    return n;
}

void result_free(struct result *result)
{
    record_done(&result->record);
    free(result->passages);
    free(result->bag);
    free(result->fragments);
    free(result);
}

size_t results_take_looks(struct index *index, struct name_look **ret_looks)
{
    LOCKED(&index->lock);
    size_t n = 0;
    for (; n < RECONCILE_AT_ONCE && !STAILQ_EMPTY(&index->looks); n++) {
        ret_looks[n] = STAILQ_FIRST(&index->looks);
        STAILQ_REMOVE_HEAD(&index->looks, next);
    }
    index->n_looks -= n;
    if (n)
        pthread_cond_broadcast(&index->results_taken);
    return n;
}

void results_drop(struct index *index)
{
    struct name_look *looks[RECONCILE_AT_ONCE];
    size_t n_looks;
    while ((n_looks = results_take_looks(index, looks)))
        for (size_t i = 0; i < n_looks; i++)
            free(looks[i]);
    struct result *results[RESULTS_AT_ONCE];
    size_t n;
    while ((n = results_take(index, results)))
        for (size_t i = 0; i < n; i++)
            result_free(results[i]);
}
