/* The passages that two documents share, as text, JSON or HTML. */
#ifndef KINFS_TOOLS_COMMANDS_EXPLAINED_H
#define KINFS_TOOLS_COMMANDS_EXPLAINED_H

#include "tools/documents/common_runs.h"
#include "tools/documents/word_places.h"

struct explained {
    const char *paths[2];
    struct word_places words[2];
    struct common_runs runs;
    size_t limit; /* of the runs that are printed, 0: none */
};

void explained_print(const struct explained *explained);
void explained_print_json(const struct explained *explained);
void explained_print_html(const struct explained *explained);

#endif
