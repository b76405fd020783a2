/* Lines that the command says when something is wrong: what is wrong with what, and what to do. */
#ifndef KINFS_TOOLS_SHOW_MESSAGE_H
#define KINFS_TOOLS_SHOW_MESSAGE_H

#include <stdarg.h>

/* A formatted string on the heap. Never NULL: without memory the program ends. */
char *message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Make control characters of a text '?', in place: it may be a store's, a socket's or a mount's,
 * and is for a terminal. For names there is escape_name(), which loses nothing. Returns the text.
 */
char *message_make_plain(char *text);

/* Print "kinfs: ..." as one line on standard error, control characters as '?'. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Give a message to whoever asked for it, or drop it. Returns code, so that a failing function ends
 * with `return refuse(ret_error, -EINVAL, "...")`. */
int refuse(char **ret_error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The meaning of a negative errno of the index to the one who asked, with what to do where
 * something can be done. */
const char *error_text(int error);

#endif
