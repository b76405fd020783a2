/* Signals mean this to the daemon of a mount: TERM, INT and HUP end it in order (HUP not where it
 * is ignored, as under nohup(1)); a closed pipe and a file size limit are errors of the call;
 * whatever else would kill it leaves a line in the log first. */
#ifndef KINFS_TOOLS_MOUNT_SIGNALS_H
#define KINFS_TOOLS_MOUNT_SIGNALS_H

/* From here on, and in all threads started from here on, a signal to end stays pending. */
void signals_block(void);

/* Ends the blocking in the calling thread; end is called in a signal handler, once a signal. */
void signals_serve(void (*end)(void *user), void *user);

/* Say in the log (background_log_crash()) what killed the process. line tells what to do about it;
 * borrowed for the life of the process. Handlers that are there already (a sanitizer's) stay. */
void signals_tell_crashes(const char *line);

#endif
