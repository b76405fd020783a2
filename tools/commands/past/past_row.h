/* Rows of what documents were, as people read them. */
#ifndef KINFS_TOOLS_COMMANDS_PAST_PAST_ROW_H
#define KINFS_TOOLS_COMMANDS_PAST_PAST_ROW_H

#include "tools/commands/command.h"

/* "event", "time", "path", "to" of a directory, "size_bytes", "tokens", "mtime". Gives, NULL
 * without memory. */
struct json_object *past_row(const struct index_past *past);

/* The row that tells of rows which cannot be read, before or behind others: "damaged_rows". */
struct json_object *past_damaged_row(uint64_t n_damaged);
/* Says so, with the remedy. Returns whether it is such a row. */
bool past_row_is_damage(struct json_object *row, const char *base);

/* Seconds since 1970 as local time, to the minute. */
struct past_time {
    char text[32];
};
struct past_time past_time_text(int64_t seconds);

#endif
