/* The policy of a new store, as a person names it: policy=, of whatever command. */
#ifndef KINFS_TOOLS_OPTIONS_POLICY_CHOICE_H
#define KINFS_TOOLS_OPTIONS_POLICY_CHOICE_H

/* A name is that of a policy (engine/sketch/policy.h).
 *
 * shown  the option as it was given, up to the name: "-o policy=" or "--policy="
 *
 * Returns 0, or -EINVAL with a line in *ret_error that has the names there are.
 */
int policy_choice(const char *shown, const char *name, char **ret_error);

#endif
