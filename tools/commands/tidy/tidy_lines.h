/* A file of objects, one a line, by which files are moved: a plan, or what has been done. */
#ifndef KINFS_TOOLS_COMMANDS_TIDY_TIDY_LINES_H
#define KINFS_TOOLS_COMMANDS_TIDY_TIDY_LINES_H

#include <json-c/json.h>
#include <stdbool.h>

/* Returns 0, or an error that ends the reading. The object is borrowed. */
typedef int (*tidy_line_fn)(void *user, struct json_object *line);

/* Read the lines of a regular file of root's or one's own, that others cannot write. A last line
 * without its end counts where it is whole, and else is none: what writes it has been killed.
 *
 * ret_number  the number of the line that was refused; 0: it is the file that was
 *
 * Returns 0, -EINVAL for a line that is no object, what line() returned, or an error of
 * trust_open_order(); with *ret_error only where *ret_number is 0. */
int tidy_lines_read(const char *file, tidy_line_fn line, void *user, unsigned long *ret_number,
                    char **ret_error);

/* A new file of this kind (0600), which is on the disk when this returns. There is none of that
 * name. Returns a descriptor the caller closes, -EEXIST, or another errno of open(2), with
 * *ret_error. */
int tidy_lines_make(const char *file, char **ret_error);

/* Append a line, which is on the disk when this returns. Returns 0, or an errno of write(2) or
 * fsync(2): then the line counts for nothing, and no other may follow. */
int tidy_lines_append(int fd, struct json_object *line);

#endif
