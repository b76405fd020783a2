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
    unsigned types, only_types;       /* 1 << of each enum text_type; only_types 0: of any */
    char **said;                      /* as they were taken in, "name=value" */
    size_t n_said, said_room;
};

void document_rules_done(struct document_rules *rules);

/* Take in one: exclude (a line of an ignore file, behind those before), type or exclude_type (one
 * more), min_size or max_size.
 * Returns 1; 0: the name is of none of them; or -EINVAL, with a line in *ret_error. */
int document_rules_take(struct document_rules *rules, const char *name, const char *value,
                        char **ret_error);

/* Those of the configuration and then those of a command, which come after and so decide, together.
 * ret_rules gives. Returns 0, or -EINVAL with a line in *ret_error. */
int document_rules_join(const struct document_rules *configured, const struct document_rules *given,
                        struct document_rules *ret_rules, char **ret_error);
/* The types that are left out, 1 << of each. */
unsigned document_rules_types(const struct document_rules *rules);
/* Into the options of an index, which borrows them. */
void document_rules_apply(const struct document_rules *rules, struct index_options *options);

#endif
