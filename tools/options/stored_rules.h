/* The rules of documents that a store was last followed by, in a file of its directory: each "name=
 * value" with a NUL behind it. Who takes in documents without a word about which, as a rebuild,
 * takes in the same. */
#ifndef KINFS_TOOLS_OPTIONS_STORED_RULES_H
#define KINFS_TOOLS_OPTIONS_STORED_RULES_H

#include "tools/options/document_rules.h"

#define STORED_RULES "rules"
#define STORED_RULES_NEW "rules.new" /* which becomes the other when it is complete */

/* Returns 1; 0: the store has none yet, of an earlier version of the program; or an errno of
 * trust_open_file() or -EINVAL for what was not written so, with a line in *ret_error. ret_rules
 * gives where 1 is returned. */
int stored_rules_load(const char *store, struct document_rules *ret_rules, char **ret_error);

/* For who has the store, which is open as store_fd; store is for messages. Returns 0, or an errno
 * of trust_open_file() or write(2), with a line in *ret_error. */
int stored_rules_save(int store_fd, const char *store, const struct document_rules *rules,
                      char **ret_error);

#endif
