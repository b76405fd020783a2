/* A bounded wait for a mount that may not answer: a call into a file system whose daemon is stopped
 * cannot be interrupted, only the process that made it be ended.
 */
#ifndef KINFS_TOOLS_QUESTIONS_PATIENCE_H
#define KINFS_TOOLS_QUESTIONS_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>

struct patience {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool is_over, has_thread;
    pthread_t thread;
    const char *path; /* borrowed until patience_end() */
};

/* From now on until patience_end() at most 20 s may pass; then the program ends with COMMAND_FAILED
 * and a line that names the path, the mount it is in and the remedy. Starts a thread; where there
 * is none to be had, there is no bound. Not in a daemon. */
void patience_begin(struct patience *ret_patience, const char *path);
void patience_end(struct patience *patience);

/* The first look at a path that a person named: returns when its file system has answered, whatever
 * that is, or ends the program as above. Not before a daemon's mount is to be ended by force. */
void patience_look(const char *path);

/* The same of each mount at or below a directory, as realpath(3) gives it, before what is below it
 * is walked: the line names the mount. Another user's is not looked at, and is not to be walked.
 * One after the other; mounts nothing. */
void patience_look_below(const char *directory);

#endif
