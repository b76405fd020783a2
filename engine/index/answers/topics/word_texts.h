/* Words of a bag as a document spells them: a store has fingerprints of stems alone. */
#ifndef KINFS_ENGINE_INDEX_ANSWERS_TOPICS_WORD_TEXTS_H
#define KINFS_ENGINE_INDEX_ANSWERS_TOPICS_WORD_TEXTS_H

#include "engine/index/index_state.h"
#include "engine/topic/bags/bag.h"

/* The heaviest n of the words that the document has, of equally heavy ones by the alphabet.
 *
 * Reads it, as far as words of documents are counted. A document that cannot be read any more has
 * none of them. Returns 0, -EINTR (query->stop), -ENOMEM or an error of bag_words_new(). */
int word_texts_of(struct index *index, const struct file_key *file, const struct bag *bag, size_t n,
                  const struct index_query *query, struct index_topic_words *ret_words);

#endif
