/* Doing what a plan says, and undoing it. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_APPLY_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_APPLY_H

#include <stdbool.h>

struct tidy_options {
    const char *plan, *undo_file, *trash, *configuration_file, *store;
    bool json;
};

/* Do what a plan says, as far as unique/ leaves out each of its documents now, for the same one,
 * and both are as they were. A line is printed for each.
 *
 * Returns 0, -ENODATA where some were left alone, or an error, with *ret_error. */
int tidy_apply(const struct tidy_options *options, char **ret_error);

/* Undo what a list has, the last first. Nothing that is there is overwritten. Returns as above. */
int tidy_undo(const struct tidy_options *options, char **ret_error);

#endif
