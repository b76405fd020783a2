#include "tools/word_choice.h"

#include <errno.h>

#include "engine/text/word_options.h"
#include "tools/message.h"

int word_choice_stopwords(const char *shown, const char *name, uint8_t *ret_stop_list,
                          char **ret_error)
{
    char names[WORD_OPTIONS_NAMES_MAX];
    int number = stop_list_find(name);
    if (number >= 0) {
        *ret_stop_list = (uint8_t)number;
        return 0;
    }
    stop_list_names(names);
    return refuse(ret_error, -EINVAL, "%s%s: no such list of stop words; there are: %s", shown,
                  name, names);
}

int word_choice_stemmer(const char *shown, const char *name, uint8_t *ret_stemmer, char **ret_error)
{
    char names[WORD_OPTIONS_NAMES_MAX];
    int number = stemmer_find(name);
    if (number >= 0) {
        *ret_stemmer = (uint8_t)number;
        return 0;
    }
    stemmer_names(names);
    return refuse(ret_error, -EINVAL, "%s%s: no such stemmer; there are: %s", shown, name, names);
}
