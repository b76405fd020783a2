/* A person names what becomes of words: tokens=, stopwords= and stemmer=, of whatever command. */
#ifndef KINFS_TOOLS_OPTIONS_WORD_CHOICE_H
#define KINFS_TOOLS_OPTIONS_WORD_CHOICE_H

#include <stdint.h>

/* The number of a name (engine/text/words/word_options.h).
 *
 * shown  the option as it was given, up to the name: "-o stemmer=" or "--stopwords="
 *
 * Returns 0, or -EINVAL with a line in *ret_error that has the names there are.
 */
int word_choice_tokens(const char *shown, const char *name, uint8_t *ret_tokens, char **ret_error);
int word_choice_stopwords(const char *shown, const char *name, uint8_t *ret_stop_list,
                          char **ret_error);
int word_choice_stemmer(const char *shown, const char *name, uint8_t *ret_stemmer,
                        char **ret_error);

#endif
