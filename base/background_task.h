/* A piece of work by a thread of its own, which stands back as an index's threads do (niceness.h),
 * and whose result somebody comes for. One thread's, but for the work. */
#ifndef KINFS_BASE_BACKGROUND_TASK_H
#define KINFS_BASE_BACKGROUND_TASK_H

#include <stdbool.h>

#include "base/niceness.h"

struct background_task;

/* Ends soon after *stop becomes true, by an atomic write; what it then returns nobody asks for. */
typedef int (*background_work)(void *user, const bool *stop);

/* Begin: nothing is waited for. Returns 0, -ENOMEM or -EAGAIN (no thread); ret_task gives. */
int background_task_start(struct niceness *niceness, background_work work, void *user,
                          struct background_task **ret_task);
/* The work is done. */
bool background_task_is_ready(const struct background_task *task);
/* The result of the work, where that is done. */
int background_task_result(const struct background_task *task);
/* Stops the work where it is not done, and waits for it. NULL allowed. */
void background_task_free(struct background_task *task);

#endif
