/* Canonical tokens to the words of bags: of each token its runs of letters, without stop words,
 * stemmed, and of each stem its fingerprint (Haveliwala, Gionis and Indyk 2000, section 2: no
 * characters that are not alphabetic, some 750 stop words, Porter's stemmer).
 *
 * Fingerprints are those of shingle_hash.h: keyed, and of two stems equal with probability 2^-64.
 * Bags of two keys do not compare. One of these a thread. Cost: of each token a stop word's hash
 * and a call of the stemmer.
 */
#ifndef KINFS_ENGINE_TOPIC_BAGS_BAG_WORDS_H
#define KINFS_ENGINE_TOPIC_BAGS_BAG_WORDS_H

#include "base/cleanup.h"
#include "engine/sketch/hash/shingle_hash.h"
#include "engine/text/canon.h"
#include "engine/text/words/word_options.h"

/* Takes a word, and the stem that it is the fingerprint of (not NUL-terminated). */
typedef void (*bag_word_fn)(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes);

struct bag_words;

/* The paper's: letters, English stop words, Porter's stemmer. */
struct word_options bag_words_default(void);

/* hash: borrowed. Returns 0, -EINVAL (a number that is none, or tags, which are no words),
 * -ENOTSUP (no such stemmer in the library at hand), -ENOMEM; gives. */
int bag_words_new(const struct word_options *options, const struct shingle_hash *hash,
                  bag_word_fn take, void *user, struct bag_words **ret_words);
void bag_words_free(struct bag_words *words);
DEFINE_CLEANUP(struct bag_words *, bag_words_free);

/* Hand out the words of token i of a block: none of a stop word, several of "fox2hen". */
void bag_words_of(struct bag_words *words, const struct token_block *block, size_t i);

#endif
