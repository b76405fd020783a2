/* Going to the background, and being heard from there. */
#ifndef KINFS_TOOLS_MOUNT_BACKGROUND_H
#define KINFS_TOOLS_MOUNT_BACKGROUND_H

#include <stdbool.h>

#include "engine/index/index.h"

/* Fork; call before any thread is started. In the child returns 0, with the working directory "/"
 * and a session of its own. In the parent returns 1 when the child has called background_ready(),
 * with *ret_code the exit code: 0, or 3 with the child's error line complained about, or the
 * last error that it logged. Returns an errno of fork(2). */
int background_start(int *ret_code);

/* The child serves (error NULL: standard output becomes /dev/null, standard error the file of
 * background_open_log() or /dev/null), or has failed. Does nothing in a process that was not forked
 * by background_start(). */
void background_ready(const char *error);

/* The log: messages go to a file (appended to), else to standard error in front, else to syslog(3).
 * The file is one's own, or what is named right below /dev. Returns 0, -EPERM with a line in
 * *ret_why (gives, may be NULL) for what is not to be trusted, or an errno of open(2). */
int background_open_log(const char *log, bool in_front, char **ret_why);

/* An index_options.log; user is not used. Any thread. */
void background_log(void *user, enum index_log_level level, const char *message);

/* "ended by SIGABRT; line", for a handler of that signal (name without the SIG); without the time.
 */
void background_log_crash(const char *name, const char *line);

#endif
