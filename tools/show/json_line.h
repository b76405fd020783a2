/* JSON as a line of output, which may be for a terminal. */
#ifndef KINFS_TOOLS_SHOW_JSON_LINE_H
#define KINFS_TOOLS_SHOW_JSON_LINE_H

#include <json-c/json.h>
#include <stdio.h>

/* Print an object as one line. All control characters are escaped, also those that JSON has in its
 * strings as they are (DEL, U+0080 to U+009F); what is read from it is the same. */
void json_line_print(FILE *out, struct json_object *object);

#endif
