/* The clusterings that topics are kept in. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_TOPICS_TOPICS_ANSWER_H
#define KINFS_ENGINE_INDEX_ANSWERS_TOPICS_TOPICS_ANSWER_H

#include "engine/index/index_state.h"

/* That of topics, or, fine, of sub-topics; NULL: no words are kept. Any thread. */
const struct named_clustering *topics_clustering(const struct index *index, bool fine);

#endif
