/* Documents that have a passage in common with one. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_SHARED_PASSAGES_H
#define KINFS_ENGINE_INDEX_ANSWERS_SHARED_PASSAGES_H

#include "engine/index/answers/answer.h"

/* The answer of INDEX_SHARES, that of query.c for the other relations.
 *
 * enough  stop when this many were found, whichever they are (0: the best query->limit)
 *
 * Returns 0, 1 where something was left out that is not what it was when it was sketched,
 * -EOPNOTSUPP where passages are not indexed, -ENOENT where those of the document are not yet, or
 * as index_similar(). */
int shared_passages(struct index *index, const struct document *document,
                    const struct index_query *query, size_t enough, struct kin_list *ret_list);

#endif
