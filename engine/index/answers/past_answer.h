/* Answers about the past, and how they are gathered. Any thread; all may wait for the store. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_PAST_ANSWER_H
#define KINFS_ENGINE_INDEX_ANSWERS_PAST_ANSWER_H

#include "engine/index/index_state.h"

/* Gives a copy, to be ended. 0 or -ENOMEM. */
int past_event_copy(const struct past_event *event, struct past_event *ret_event);

struct index_past past_shown(const struct past_event *event);

/* A walk over what counts by now, until query->stop says so. */
struct past_walk past_walk_of(struct index *index, const struct index_query *query, past_fn visit,
                              void *user);

#endif
