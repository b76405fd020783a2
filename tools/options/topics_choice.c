#include "tools/options/topics_choice.h"

#include <errno.h>
#include <string.h>

#include "tools/show/message.h"

int topics_choice(const char *option, const char *word, enum index_topics *ret_topics,
                  char **ret_error)
{
    const bool content = strcmp(word, "content") == 0;
    if (!content && strcmp(word, "off") != 0)
        return refuse(ret_error, -EINVAL, "%s%s: takes off or content", option, word);
    *ret_topics = content ? INDEX_TOPICS_CONTENT : INDEX_TOPICS_OFF;
    return 0;
}
