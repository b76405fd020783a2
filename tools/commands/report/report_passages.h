/* The passages that two documents of a tree share, read now: for a page that shows them. */
#ifndef KINFS_TOOLS_COMMANDS_REPORT_REPORT_PASSAGES_H
#define KINFS_TOOLS_COMMANDS_REPORT_REPORT_PASSAGES_H

#include <json-c/json.h>

#include "tools/options/configuration.h"

struct report_passages {
    int tree_fd; /* the tree's root */
    const struct configuration *configuration;
    int64_t until_ms; /* of clock_now_ms(), to when two are to be read */
};

/* The passages that two documents share, the longest ones, as `kinfs explain --json` has them but
 * cut, and with "runs", [[word of a, word of b, words]], where they are. Others write the tree:
 * nothing leads elsewhere (mount_point_avoid()), and nothing but regular files is opened.
 *
 * Returns 0; -ENODATA where they share none, or one has no words; -EFBIG or -E2BIG for one that is
 * too long for a page; -ETIMEDOUT; or an error: what is known of them may not be so any more.
 * Gives. */
int report_passages_read(const struct report_passages *passages, const char *a, const char *b,
                         struct json_object **ret_object);

#endif
