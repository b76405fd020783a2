/* The words of a store say what a document is to it, for who compares texts as it would. */
#ifndef KINFS_TOOLS_COMMANDS_STORE_WORDS_H
#define KINFS_TOOLS_COMMANDS_STORE_WORDS_H

#include "engine/text/words/word_options.h"
#include "tools/questions/locate.h"

/* The tokens in a shingle, and what becomes of words before, which stays as it is where the mount
 * has no store. Returns 0 or what ask() does, with a line in *ret_error. */
int store_words_ask(const struct location *location, unsigned *ret_w, struct word_options *words,
                    char **ret_error);

#endif
