/* Named clusterings that a batch makes anew, one at a time, once documents rest. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/index/named/clustering_row.h"
#include "engine/index/named/named_clusterings_private.h"
#include "engine/index/clusters/remade.h"
#include "engine/index/topics/topics.h"

enum { FAILURE_TEXT_BYTES = 256 };

static bool is_early(const struct named_clusterings *named, const struct named_clustering *due)
{
    return clustering_is_of_topics(&due->clustering) && !topics_may_decide(named->of.topics);
}

static const struct named_clustering *find_due(const struct named_clusterings *named, bool rests,
                                               bool wanted)
{
    const int64_t now_ms = clock_now_ms();
    for (size_t i = 0; i < named->n_wanted; i++) {
        struct remade *remade = named->wanted[i].remade;
        /* Topics of what others say are of the words that lists are of, or, where these change
         * without end, were of at one time. */
        const bool early = is_early(named, &named->wanted[i]);
        if (early &&
            (topics_epoch(named->of.topics).epoch == 0 || topics_is_idle(named->of.topics)))
            continue;
        if (remade_is_due(remade, rests && !early, wanted && !early, now_ms))
            return &named->wanted[i];
    }
    return NULL;
}

/* Topics and sub-topics come of one batch. Returns the other ones. */
static const struct named_clustering *find_also(const struct named_clusterings *named,
                                                const struct named_clustering *due)
{
    for (size_t i = 0; clustering_is_of_topics(&due->clustering) && i < named->n_wanted; i++)
        if (&named->wanted[i] != due && clustering_is_of_topics(&named->wanted[i].clustering))
            return &named->wanted[i];
    return NULL;
}

static int begin_remaking(struct named_clusterings *named, const struct named_clustering *due)
{
    const struct named_clustering *also = find_also(named, due);
    named->task = (struct remaking_task){
        .kv = named->of.kv,
        .policy = named->of.policy,
        .scratch = named->of.scratch,
        .number = due->number,
        .how = clustering_batch(&due->clustering),
        .is_topics = clustering_is_of_topics(&due->clustering),
        .is_fine = due->clustering.kind == INDEX_CLUSTERING_SUBTOPICS,
        .also = also ? also->number : 0,
    };
    named->remade = due;
    const uint64_t n_missed = is_early(named, due); /* they stay those of before */
    named->n_changes = remade_n_changes(due->remade) - n_missed;
    named->also_remade = also;
    named->also_n_changes = also ? remade_n_changes(also->remade) - n_missed : 0;
    named->began_ms = clock_now_ms();
    return background_task_start(named->of.niceness, remaking_work, &named->task, &named->remaking);
}

static const char *shown_name(const struct named_clustering *named)
{
    return clustering_is_of_topics(&named->clustering) ? "topics" : named->clustering.name;
}

static void failure_text(const struct named_clustering *failed, int error,
                         char ret_text[FAILURE_TEXT_BYTES])
{
    snprintf(ret_text, FAILURE_TEXT_BYTES,
             "clustering %s: %s; it stays as it was before the last changes, until the next one, "
             "or kinfs settle",
             shown_name(failed), remade_obstacle(error));
}

static int end_failed(struct named_clusterings *named, int error)
{
    const struct named_clustering *failed = named->remade, *also = named->also_remade;
    named_clusterings_stop(named);
    if (!remade_is_obstacle(error))
        return error;
    if (also)
        (void)remade_failed(also->remade, error);
    if (!remade_failed(failed->remade, error))
        return 0;
    char text[FAILURE_TEXT_BYTES];
    failure_text(failed, error, text);
    messages_log(named->of.messages, INDEX_LOG_ERROR, "%s", text);
    return 0;
}

/* The plan of the one is carried out; that of the other comes next, if there is one. */
static void end_plan(struct named_clusterings *named)
{
    const struct named_clustering *next = named->also_remade;
    if (!next) {
        named_clusterings_stop(named);
        return;
    }
    move_plan_done(&named->task.plan);
    named->task.plan = named->task.also_plan;
    named->task.also_plan = (struct move_plan){0};
    named->remade = next;
    named->n_changes = named->also_n_changes;
    named->also_remade = NULL;
}

static int complete_remaking(struct named_clusterings *named)
{
    const struct named_clustering *done = named->remade;
    char text[INDEX_CLUSTERING_TEXT_BYTES], failure[FAILURE_TEXT_BYTES];
    struct index_clustering_loss before;
    const int error = remade_error(done->remade);
    bool first = !remade_get_loss(done->remade, &before);
    int r = remade_complete(done->remade, named->n_changes, &named->task.loss,
                            clock_now_ms() - named->began_ms);
    end_plan(named);
    if (r == 0 && error) {
        failure_text(done, error, failure);
        messages_over(named->of.messages, failure);
    }
    if (r < 0 || !first || clustering_is_of_topics(&done->clustering))
        return r;
    index_clustering_print(&done->clustering, text);
    messages_log(named->of.messages, INDEX_LOG_INFO, "clustering %s: all documents are in it",
                 text);
    return 0;
}

static int go_on_remaking(struct named_clusterings *named)
{
    int r = background_task_result(named->remaking);
    if (r < 0)
        return end_failed(named, r);
    r = living_clusters_remake(named->of.clusters, named->remade->number, &named->task.plan);
    if (r == 0)
        return complete_remaking(named);
    if (r < 0)
        named_clusterings_stop(named); /* what was done counts */
    return r < 0 ? r : 0;
}

bool named_clusterings_is_due(const struct named_clusterings *named, bool rests, bool wanted)
{
    return find_due(named, rests, wanted) != NULL;
}

int named_clusterings_remake_some(struct named_clusterings *named, bool rests, bool wanted)
{
    const struct named_clustering *due;
    if (named->remaking)
        return go_on_remaking(named);
    due = find_due(named, rests, wanted);
    int r = due ? begin_remaking(named, due) : 0;
    return r < 0 ? end_failed(named, r) : 0;
}
