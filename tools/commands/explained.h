/* The passages that two documents share, as text, JSON or HTML. */
#ifndef KINFS_TOOLS_COMMANDS_EXPLAINED_H
#define KINFS_TOOLS_COMMANDS_EXPLAINED_H

#include <json-c/json.h>

#include "tools/documents/common_runs.h"
#include "tools/documents/word_places.h"
#include "tools/options/configuration.h"

struct explained {
    const char *paths[2];
    struct word_places words[2];
    struct common_runs runs;
    size_t limit;      /* of the runs that are printed, 0: none */
    size_t most_bytes; /* of the text of a document that nobody has named, 0: both were named */
    int64_t until_ms; /* of clock_now_ms(), to when both are to be read; 0: however long it takes */
    size_t text_most; /* bytes of a passage that are printed as JSON, 0: all */
};

/* Read one of the two, open as fd, which is seekable. Returns 0, -ENODATA for what has no words, or
 * an error, with *ret_error. */
int explained_read(struct explained *explained, unsigned side, const char *path, int fd,
                   const struct configuration *configuration, char **ret_error);
/* Find what the two share: passages of so many words or more. Returns as common_runs_find(). */
int explained_find(struct explained *explained, size_t least);
/* Frees what has been read and found; the paths are the caller's. */
void explained_done(struct explained *explained);

/* As explained_print_json() prints it. Gives. */
struct json_object *explained_json(const struct explained *explained);

void explained_print(const struct explained *explained);
void explained_print_json(const struct explained *explained);
void explained_print_html(const struct explained *explained);

#endif
