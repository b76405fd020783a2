/* The question of which documents unique/ leaves out (work_skip(), in command.h), and its rows:
 * "path", "stand_in", "resemblance", "size", "equal", and where the request has "states" those of
 * both files, "is" and "stand_in_is" (tools/commands/tidy/tidy_state.h). Where it has "equal",
 * `near` is 1 for it: equal texts alone are left out. Where it has "names", and the daemon of a
 * mount answers, further rows have a "name" each, of what the tree has in its root, "." and ".."
 * among them: a listing of the mount's root may have views besides. */
#ifndef KINFS_TOOLS_COMMANDS_SKIP_SKIP_WORK_H
#define KINFS_TOOLS_COMMANDS_SKIP_SKIP_WORK_H

#include <json-c/json.h>

#include "tools/options/unique_rules.h"

/* Add the rules of what stays to a request: they count where no mount has its own. */
void skip_add_rules(struct json_object *request, const struct unique_rules *said);

#endif
