/* A daemon that is about to give up a store: its mount has gone, and it still writes what was
 * closed last. Who wants the store next waits for that, as the restart of a service would. */
#ifndef KINFS_TOOLS_QUESTIONS_PREDECESSOR_H
#define KINFS_TOOLS_QUESTIONS_PREDECESSOR_H

/* Call take until it returns something other than -EBUSY, as long as the holder of the store is a
 * daemon without its mount that answers nobody, a minute at most. One that still answers is given a
 * second: its mount may have gone this moment, or lazily, with files open, for long. Returns what
 * take returned last. */
int predecessor_outlive(const char *store, int (*take)(void *user), void *user);

#endif
