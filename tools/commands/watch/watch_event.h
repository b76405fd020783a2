/* The events of kinfs watch: rows of work_watch(), printed, or given to a program. */
#ifndef KINFS_TOOLS_COMMANDS_WATCH_WATCH_EVENT_H
#define KINFS_TOOLS_COMMANDS_WATCH_WATCH_EVENT_H

#include <json-c/json.h>
#include <stdbool.h>

/* Near-identical documents are in one cluster, or could be. */
#define WATCH_NEAR_DEFAULT 0.95
#define WATCH_NEAR_LEAST 0.5

/* Print a line. The row's paths are made absolute with a base, here and below; NULL: they stay. */
void watch_event_print(struct json_object *row, const char *base, bool json);

/* Run a program with an event, and wait for its end; how that was is said and no error. Returns 0,
 * -EINTR or an errno of posix_spawnp(3), of which is said, too. */
int watch_event_run(const char *program, const char *base, struct json_object *row);

#endif
