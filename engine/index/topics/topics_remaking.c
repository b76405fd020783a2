/* The lists of words are made anew by a thread of their own, which puts rows of the next epoch that
 * nobody reads; then the committer says that these are the ones to read, and the rows of the epoch
 * before are removed by the same way. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "engine/index/topics/topics_private.h"

enum { FAILURE_TEXT_BYTES = 256 };

bool topics_is_idle(const struct topics *topics)
{
    return !topics->making && !topics->has_others && remade_is_idle(topics->remade);
}

static bool is_due(const struct topics *topics, bool rests, bool wanted)
{
    return topics->has_others || remade_is_due(topics->remade, rests, wanted, clock_now_ms());
}

bool topics_has_work(const struct topics *topics, bool rests, bool wanted)
{
    return topics->making ? background_task_is_ready(topics->making)
                          : is_due(topics, rests, wanted);
}

void topics_stop(struct topics *topics)
{
    background_task_free(topics->making);
    topics->making = NULL;
}

static void failure_text(int error, char ret_text[FAILURE_TEXT_BYTES])
{
    snprintf(ret_text, FAILURE_TEXT_BYTES,
             "topics: %s; what is related is known as before the last changes, until the next one, "
             "or kinfs settle",
             remade_obstacle(error));
}

static int end_failed(struct topics *topics, int error)
{
    topics_stop(topics);
    if (!remade_is_obstacle(error))
        return error;
    /* What there is of the lists goes; a sweep is tried again with the next ones. */
    topics->has_others = !topics->task.sweeps;
    if (topics->task.sweeps) /* the lists that are read are there */
        return 0;
    if (!remade_failed(topics->remade, error))
        return 0;
    char text[FAILURE_TEXT_BYTES];
    failure_text(error, text);
    messages_log(topics->of.messages, INDEX_LOG_ERROR, "%s", text);
    return 0;
}

static int begin_making(struct topics *topics)
{
    topics->task = (struct lists_making_task){.kv = topics->of.kv,
                                              .kind = topics->kind,
                                              .root = topics->of.root,
                                              .scratch = topics->of.scratch,
                                              .epoch = topics->epoch.epoch,
                                              .sweeps = topics->has_others};
    topics->n_changes = remade_n_changes(topics->remade);
    topics->began_ms = clock_now_ms();
    return background_task_start(topics->of.niceness, lists_making_work, &topics->task,
                                 &topics->making);
}

static int complete(struct topics *topics)
{
    const struct topics_epoch epoch = {topics->epoch.epoch + 1, topics->task.n_bags};
    const struct index_clustering_loss none = {0};
    const int error = remade_error(topics->remade);
    char failure[FAILURE_TEXT_BYTES];
    int r = topics_put_epoch(topics->of.kv, &epoch);
    if (r < 0)
        return r;
    {
        LOCKED(&topics->lock);
        topics->epoch = epoch;
    }
    topics->has_others = true;
    r = remade_complete(topics->remade, topics->n_changes, &none,
                        clock_now_ms() - topics->began_ms);
    if (r == 0 && error) {
        failure_text(error, failure);
        messages_over(topics->of.messages, failure);
    }
    return r;
}

static int end_making(struct topics *topics)
{
    int r = background_task_result(topics->making);
    if (r < 0)
        return end_failed(topics, r);
    topics_stop(topics);
    if (!topics->task.sweeps)
        return complete(topics);
    topics->has_others = false;
    return 0;
}

int topics_step(struct topics *topics, bool rests, bool wanted)
{
    if (topics->making)
        return end_making(topics);
    int r = is_due(topics, rests, wanted) ? begin_making(topics) : 0;
    return r < 0 ? end_failed(topics, r) : 0;
}
