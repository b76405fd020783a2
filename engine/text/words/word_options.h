/* The options of words: which tokens of a document are sketched, and how they are filtered before.
 * By default all words of the canonical form are, unchanged; tags may be tokens, too, everything
 * but letters may be left out, stop words may be, and words may be stemmed. */
#ifndef KINFS_ENGINE_TEXT_WORDS_WORD_OPTIONS_H
#define KINFS_ENGINE_TEXT_WORDS_WORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All numbers are stored and never change. 0 is none, or of tokens words alone. */
enum token_choice { TOKENS_WORDS, TOKENS_WORDS_AND_TAGS, TOKENS_LETTERS, N_TOKEN_CHOICES };
enum stop_list { STOP_LIST_NONE, STOP_LIST_ENGLISH, N_STOP_LISTS = 26 }; /* word_options.c */
enum { N_STEMMERS = 30 }; /* a number for each name of word_options.c */

struct word_options {
    uint8_t stop_list; /* enum stop_list */
    uint8_t stemmer;   /* a number of stemmer_find() */
    uint8_t tokens;    /* enum token_choice */
};

/* The number of a name ("words", "none", "english", ...), or -EINVAL. A stemmer that the library at
 * hand does not have is none. */
int token_choice_find(const char *name);
int stop_list_find(const char *name);
int stemmer_find(const char *name);

/* The name of a number, NULL for one that is none. */
const char *token_choice_name(unsigned tokens);
const char *stop_list_name(unsigned stop_list);
const char *stemmer_name(unsigned stemmer);

/* All names, separated by commas, that of 0 first. text: WORD_OPTIONS_NAMES_MAX bytes. */
enum { WORD_OPTIONS_NAMES_MAX = 512 };
void token_choice_names(char *text);
void stop_list_names(char *text);
void stemmer_names(char *text);

/* Returns 0, -EINVAL for a number that is none, -ENOTSUP for a stemmer that the library at hand
 * does not have. */
int word_options_check(const struct word_options *options);

/* True when words are changed or left out. */
static inline bool word_options_filter(const struct word_options *options)
{
    return options->stop_list != STOP_LIST_NONE || options->stemmer != 0 ||
           options->tokens == TOKENS_LETTERS;
}

#endif
