/* Asking a running daemon: a Unix socket `control` in the store (0600, and the peer must be root or
 * the daemon's user).
 *
 * One request a connection: a line, {"command": NAME, ...}; then a line for every row of the
 * answer; then {"end": {"errno": 0}}, or {"end": {"errno": 2, "error": "a line"}}, and the end of
 * the stream.
 */
#ifndef KINFS_TOOLS_QUESTIONS_CONTROL_H
#define KINFS_TOOLS_QUESTIONS_CONTROL_H

#include "tools/questions/work.h"

struct control;

/* Serve requests in threads of their own, until control_stop(). The caller holds the store; a
 * socket that a dead daemon left is replaced. context is borrowed; work finds the work of a request
 * by its command. Returns 0, -EPERM (the store is
 * not one's own, base/files/trust.h) or an errno of bind(2). */
int control_start(const char *store, const struct work_context *context, work_finder work,
                  struct control **ret_control);

/* Ends what is being answered. NULL allowed. */
void control_stop(struct control *control);

/* Ask. request is borrowed; rows go to row as they come.
 * Returns the daemon's answer; -ECONNREFUSED when no daemon listens (nothing was done); -EACCES
 * when it is another user's; -EPERM when others can change the store, or another user listens, then
 * nobody is asked; -EPROTO when an answer, or a row to the row function, is not understood; -EBUSY
 * when it answers as many as it can; -EPIPE when it ended while it answered; -ETIMEDOUT when it was
 * silent for some seconds and then is stopped, or did not refuse a senseless request for 20 s; with
 * *ret_error. */
int control_ask(const char *store, struct json_object *request, row_fn row, void *user,
                char **ret_error);

#endif
