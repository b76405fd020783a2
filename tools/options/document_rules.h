/* The rules of documents say which files of a tree are documents: as options and configuration say,
 * beside ignore files and what never is one (engine/ignore). */
#ifndef KINFS_TOOLS_OPTIONS_DOCUMENT_RULES_H
#define KINFS_TOOLS_OPTIONS_DOCUMENT_RULES_H

#include <stdint.h>

#include "engine/index/index.h"

/* Zero-initialised: all are. */
struct document_rules {
    struct ignore_rules *exclude;     /* or NULL */
    uint64_t least_bytes, most_bytes; /* 0: no bound */
    unsigned types;                   /* that are left out, 1 << of each enum text_type */
};

void document_rules_done(struct document_rules *rules);

/* Take in one: exclude (a line of an ignore file, behind those before), exclude_type (one more),
 * min_size or max_size.
 * Returns 1; 0: the name is of none of them; or -EINVAL, with a line in *ret_error. */
int document_rules_take(struct document_rules *rules, const char *name, const char *value,
                        char **ret_error);

/* Those of the configuration and then those of a command, which come after and so decide, together
 * into the options of an index. ret_rules gives; it outlives the index. Returns 0, or -EINVAL with
 * a line in *ret_error. */
int document_rules_join(const struct document_rules *configured, const struct document_rules *given,
                        struct document_rules *ret_rules, char **ret_error);
void document_rules_apply(const struct document_rules *rules, struct index_options *options);

#endif
