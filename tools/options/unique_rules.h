/* The rules of unique/ say what it leaves out, and for which documents: as options and
 * configuration say. */
#ifndef KINFS_TOOLS_OPTIONS_UNIQUE_RULES_H
#define KINFS_TOOLS_OPTIONS_UNIQUE_RULES_H

#include "engine/index/index.h"

enum { UNIQUE_PREFER_MAX = 1000 };

/* Zero-initialised: nothing is said. */
struct unique_rules {
    double near; /* 0: not said */
    bool representative_said;
    enum index_representative representative;
    bool stand_in_said, stand_in_anyone;
    char **prefer; /* in the order in which they were said */
    size_t n_prefer;
    char **reference; /* directories, from the root of the tree on */
    size_t n_reference;
};

void unique_rules_done(struct unique_rules *rules);

/* Take in one: near (a resemblance), representative or stand_in (a word), prefer (a pattern, behind
 * those before) or reference (directories, with colons between; one in a name has a backslash
 * before it). Returns 1; 0: the name is of none of them; or -EINVAL, with a line in *ret_error. */
int unique_rules_take(struct unique_rules *rules, const char *name, const char *value,
                      char **ret_error);

/* Those of a command and then those of the configuration, which count where the former say nothing;
 * patterns of the command come first. ret_rules gives. Returns 0 or -ENOMEM. */
int unique_rules_join(const struct unique_rules *configured, const struct unique_rules *given,
                      struct unique_rules *ret_rules);
/* Borrows from rules. */
struct index_unique_options unique_rules_options(const struct unique_rules *rules);

#endif
