/* Waiting for an index to have sketched everything: what `settle` and `scan` share. */
#ifndef KINFS_TOOLS_COMMANDS_SETTLING_H
#define KINFS_TOOLS_COMMANDS_SETTLING_H

#include "tools/commands/command.h"

/* Settle all lanes, with a row {"progress": {"done", "total", "scanning"}} now and then, and at the
 * end the row of `status`. The request's timeout_ms bounds it. Returns 0, -ETIMEDOUT, -ESHUTDOWN.
 */
int settling_work(const struct work_context *context, struct json_object *request, row_fn row,
                  void *user, char **ret_error);

/* Ask for it, draw the bar, print the end in words or JSON; the exit code. */
int settling_run(const struct ask *ask, struct json_object *request, bool json);

#endif
