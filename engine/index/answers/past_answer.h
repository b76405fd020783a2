/* Answers about the past, and how they are gathered. Any thread; all may wait for the store. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_PAST_ANSWER_H
#define KINFS_ENGINE_INDEX_ANSWERS_PAST_ANSWER_H

#include "engine/index/index_state.h"

/* Events in hand. */
struct past_list {
    struct past_event *events;
    size_t n_events, room;
};
void past_list_done(struct past_list *list);
/* A past_fn that takes a copy of each event; user: the list. 0 or -ENOMEM. */
int past_list_take(void *user, const struct past_event *event);

struct index_past past_shown(const struct past_event *event);

/* A walk over what counts by now, until query->stop says so. */
struct past_walk past_walk_of(struct index *index, const struct index_query *query, past_fn visit,
                              void *user);

#endif
