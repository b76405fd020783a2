/* Names of the options of words, and their numbers, which are stored: a number is the place of a
 * name in its list, and names are only added at the end. */
#include "engine/text/words/word_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <libstemmer.h>

static const char *const token_choices[N_TOKEN_CHOICES] = {"words", "words+tags", "letters"};
/* The lists of stop words, as meson.build has them; new ones go to the end. */
static const char *const stop_lists[N_STOP_LISTS] = {
    "none",       "english", "arabic",  "armenian",   "basque",  "catalan",   "danish",
    "dutch",      "finnish", "french",  "german",     "greek",   "hindi",     "hungarian",
    "indonesian", "irish",   "italian", "lithuanian", "nepali",  "norwegian", "portuguese",
    "romanian",   "russian", "spanish", "swedish",    "turkish",
};

/* The algorithms of Snowball 2.2; new ones go to the end. */
static const char *const stemmers[N_STEMMERS] = {
    "none",    "arabic",    "armenian", "basque",     "catalan",  "danish",
    "dutch",   "english",   "finnish",  "french",     "german",   "greek",
    "hindi",   "hungarian", "irish",    "indonesian", "italian",  "lithuanian",
    "nepali",  "norwegian", "porter",   "portuguese", "romanian", "russian",
    "serbian", "spanish",   "swedish",  "tamil",      "turkish",  "yiddish",
};

static bool library_has(const char *name)
{
    for (const char **known = sb_stemmer_list(); *known; known++)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

static bool stemmer_is_there(unsigned stemmer)
{
    return stemmer == 0 || library_has(stemmers[stemmer]);
}

static int find(const char *const *names, size_t n_names, const char *name)
{
    for (size_t i = 0; i < n_names; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -EINVAL;
}

int token_choice_find(const char *name)
{
    return find(token_choices, N_TOKEN_CHOICES, name);
}

int stop_list_find(const char *name)
{
    return find(stop_lists, N_STOP_LISTS, name);
}

int stemmer_find(const char *name)
{
    int stemmer = find(stemmers, N_STEMMERS, name);
    return stemmer >= 0 && !stemmer_is_there((unsigned)stemmer) ? -EINVAL : stemmer;
}

const char *token_choice_name(unsigned tokens)
{
    return tokens < N_TOKEN_CHOICES ? token_choices[tokens] : NULL;
}

const char *stop_list_name(unsigned stop_list)
{
    return stop_list < N_STOP_LISTS ? stop_lists[stop_list] : NULL;
}

const char *stemmer_name(unsigned stemmer)
{
    return stemmer < N_STEMMERS ? stemmers[stemmer] : NULL;
}

static void add(char *text, const char *name)
{
    size_t at = strlen(text);
    snprintf(text + at, WORD_OPTIONS_NAMES_MAX - at, "%s%s", at ? ", " : "", name);
}

static void add_all(char *text, const char *const *names, size_t n_names)
{
    *text = '\0';
    for (size_t i = 0; i < n_names; i++)
        add(text, names[i]);
}

void token_choice_names(char *text)
{
    add_all(text, token_choices, N_TOKEN_CHOICES);
}

void stop_list_names(char *text)
{
    add_all(text, stop_lists, N_STOP_LISTS);
}

void stemmer_names(char *text)
{
    *text = '\0';
    for (unsigned i = 0; i < N_STEMMERS; i++)
        if (stemmer_is_there(i))
            add(text, stemmers[i]);
}

int word_options_check(const struct word_options *options)
{
    if (options->tokens >= N_TOKEN_CHOICES || options->stop_list >= N_STOP_LISTS ||
        options->stemmer >= N_STEMMERS)
        return -EINVAL;
    return stemmer_is_there(options->stemmer) ? 0 : -ENOTSUP;
}
