/* The rows that kinfs group and its work with an index agree on. */
#ifndef KINFS_TOOLS_COMMANDS_GROUP_WORK_H
#define KINFS_TOOLS_COMMANDS_GROUP_WORK_H

#include <json-c/json.h>
#include <stdint.h>

/* A document is compared with so many of its cluster that are like none before them, the last ones.
 */
enum { LEADERS_MOST = 16 };

/* The row that asks or says something of a path, by its number. Gives. */
struct json_object *group_row(uint64_t number);

#endif
