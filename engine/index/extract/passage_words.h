/* The words of documents that are sketched, on their way to the fingerprints of their passages. */
#ifndef KINFS_ENGINE_INDEX_EXTRACT_PASSAGE_WORDS_H
#define KINFS_ENGINE_INDEX_EXTRACT_PASSAGE_WORDS_H

#include "engine/index/extract/sketching.h"
#include "engine/index/postings/passages.h"

/* From now on each document that is sketched is the sketcher's last one, too.
 *
 * ret_sketcher  gives; freed behind the sketching
 *
 * Returns 0, -ENOMEM. */
int passage_words_collect(const struct passages *passages, struct sketching *sketching,
                          struct passage_sketcher **ret_sketcher);

#endif
