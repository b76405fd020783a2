#include "tools/options/topics_choice.h"

#include <errno.h>
#include <string.h>

#include "tools/show/message.h"

const char *topics_choice_word(enum index_topics topics)
{
    static const char *const words[] = {
        [INDEX_TOPICS_AS_STORED] = "",      [INDEX_TOPICS_OFF] = "off",
        [INDEX_TOPICS_CONTENT] = "content", [INDEX_TOPICS_ANCHOR] = "anchor",
        [INDEX_TOPICS_BOTH] = "both",
    };
    return words[topics];
}

int topics_choice(const char *option, const char *word, enum index_topics *ret_topics,
                  char **ret_error)
{
    for (unsigned i = INDEX_TOPICS_OFF; i <= INDEX_TOPICS_BOTH; i++)
        if (strcmp(word, topics_choice_word((enum index_topics)i)) == 0) {
            *ret_topics = (enum index_topics)i;
            return 0;
        }
    return refuse(ret_error, -EINVAL, "%s%s: takes off, content, anchor or both", option, word);
}
