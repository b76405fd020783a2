/* A step between the canonical form and the receiver of its tokens: it may leave out everything but
 * letters (of a token each run of letters and their marks is a token), leave out stop words, and
 * hand on the stems of the others, in their order. Where nothing of this is wanted there is no
 * step.
 */
#ifndef KINFS_ENGINE_TEXT_WORDS_WORD_FILTER_H
#define KINFS_ENGINE_TEXT_WORDS_WORD_FILTER_H

#include "engine/text/canon.h"
#include "engine/text/words/word_options.h"

struct word_filter; /* one per thread */

/* Put a filter before a sink.
 *
 * sink        copied; without links, which count the tokens as they are in the document
 * ret_filter  gives; NULL where the options want nothing
 * ret_before  the sink that takes what the filter is to filter: of the filter as long as it is
 *             there, or the same as sink; it has tags where the options want them
 *
 * Tags pass as they are. A token that is a stop word is left out before it is stemmed; a stem that
 * would be empty or longer than CANON_TOKEN_MAX_BYTES is not taken, but the token as it is. What is
 * handed on depends on the tokens alone and not on the blocks they come in; a block that has
 * nothing left is not handed on. Nothing is kept between two blocks, so no document need be begun
 * or finished. Features, and their order, pass as they are.
 *
 * Returns 0, -EINVAL (a number that is none, links), -ENOTSUP (no such stemmer in the library at
 * hand), -ENOMEM.
 */
int word_filter_new(const struct word_options *options, const struct canon_sink *sink,
                    struct word_filter **ret_filter, struct canon_sink *ret_before);
void word_filter_free(struct word_filter *filter);
DEFINE_CLEANUP(struct word_filter *, word_filter_free);

#endif
