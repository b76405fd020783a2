#include "tools/options/word_choice.h"

#include <errno.h>

#include "engine/text/words/word_options.h"
#include "tools/show/message.h"

/* The number of a name, if it is one. */
static int choose(int number, const char *shown, const char *name, const char *what,
                  void (*list_names)(char *text), uint8_t *ret_number, char **ret_error)
{
    char names[WORD_OPTIONS_NAMES_MAX];
    if (number >= 0) {
        *ret_number = (uint8_t)number;
        return 0;
    }
    list_names(names);
    return refuse(ret_error, -EINVAL, "%s%s: no such %s; there are: %s", shown, name, what, names);
}

int word_choice_tokens(const char *shown, const char *name, uint8_t *ret_tokens, char **ret_error)
{
    return choose(token_choice_find(name), shown, name, "tokens", token_choice_names, ret_tokens,
                  ret_error);
}

int word_choice_stopwords(const char *shown, const char *name, uint8_t *ret_stop_list,
                          char **ret_error)
{
    return choose(stop_list_find(name), shown, name, "list of stop words", stop_list_names,
                  ret_stop_list, ret_error);
}

int word_choice_stemmer(const char *shown, const char *name, uint8_t *ret_stemmer, char **ret_error)
{
    return choose(stemmer_find(name), shown, name, "stemmer", stemmer_names, ret_stemmer,
                  ret_error);
}
