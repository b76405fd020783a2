/* Lines that the command says when something is wrong: what is wrong with what, and what to do. */
#ifndef KINFS_TOOLS_SHOW_MESSAGE_H
#define KINFS_TOOLS_SHOW_MESSAGE_H

#include <stdarg.h>
#include <stdio.h>

/* A formatted string on the heap. Never NULL: without memory the program ends. */
char *message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* From now on complain() and remark() print an object of JSON a line, of a member "error" and
 * "note". */
void complain_in_json(void);

/* Print "kinfs: ..." as one line on standard error, as escape_make_plain() has it. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same of what is to be known, and is no error. */
void remark(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A stream to standard error, each line of which is as escape_make_plain() makes it; the caller
 * closes it. For what a library prints there. NULL without memory. */
FILE *message_stream(void);

/* Give a message to whoever asked for it, or drop it. Returns code, so that a failing function ends
 * with `return refuse(ret_error, -EINVAL, "...")`. */
int refuse(char **ret_error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The meaning of a negative errno of the index to the one who asked, with what to do where
 * something can be done. */
const char *error_text(int error);

#endif
