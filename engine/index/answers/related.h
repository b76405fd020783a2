/* Documents about the same as one, by the words of both (topics/topics.h). */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_RELATED_H
#define KINFS_ENGINE_INDEX_ANSWERS_RELATED_H

#include "engine/index/answers/answer.h"

/* The answer to a question of INDEX_RELATED. How much a word weighs depends on all documents, so
 * it is for who may read everything.
 *
 * enough  stop when this many were found (0: the best query->limit)
 *
 * Returns 0; -EACCES for who may not read everything, -EOPNOTSUPP where no words are kept, -ENOENT
 * where those of the document are not yet; or an error. Some 10 us for each of its words, and 10 ns
 * for each document that has one of them. */
int related(struct index *index, const struct document *document, const struct index_query *query,
            size_t enough, struct kin_list *ret_list);

#endif
