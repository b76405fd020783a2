/* The words of documents that an index is to keep, as a person says it: "off", "content",
 * "anchor" or "both". */
#ifndef KINFS_TOOLS_OPTIONS_TOPICS_CHOICE_H
#define KINFS_TOOLS_OPTIONS_TOPICS_CHOICE_H

#include "engine/index/index.h"

/* The word for it; "" for INDEX_TOPICS_AS_STORED. */
const char *topics_choice_word(enum index_topics topics);

/* option: as it is given, with "=". Returns 0, or -EINVAL with a line in *ret_error. */
int topics_choice(const char *option, const char *word, enum index_topics *ret_topics,
                  char **ret_error);

#endif
