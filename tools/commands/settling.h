/* Waiting for an index to have sketched everything: what `settle` and `scan` share. */
#ifndef KINFS_TOOLS_COMMANDS_SETTLING_H
#define KINFS_TOOLS_COMMANDS_SETTLING_H

#include "tools/commands/command.h"

/* Ask for work_settle() or work_scan(), draw the bar, print the end in words or JSON; the exit
 * code. */
int settling_run(const struct ask *ask, struct json_object *request, bool json);

#endif
