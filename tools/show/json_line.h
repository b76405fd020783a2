/* JSON as a line of output, which may be for a terminal. */
#ifndef KINFS_TOOLS_SHOW_JSON_LINE_H
#define KINFS_TOOLS_SHOW_JSON_LINE_H

#include <json-c/json.h>
#include <stdio.h>

/* Print JSON as it is, but for what no line shows (escape_shows()) that it has in its strings
 * unescaped: that is escaped; what is read from it is the same. */
void json_text_print(FILE *out, const char *text, size_t n_bytes);

/* Print an object as one line, likewise. All control characters are escaped, and ratios, which have
 * more decimals on their way (work_add_ratio()), are as people are shown them: numbers have four
 * decimals at most. Changes how the object prints, not its values. */
void json_line_print(FILE *out, struct json_object *object);

#endif
