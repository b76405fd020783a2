#include "base/background_task.h"

#include <errno.h>
#include <stdlib.h>

#include "base/thread.h"

struct background_task {
    struct niceness *niceness;
    background_work work;
    void *user;
    pthread_t thread;
    bool stop, done; /* by atomic operations */
    int result;
};

static void *run(void *user)
{
    struct background_task *task = user;
    niceness_join(task->niceness);
    task->result = task->work(task->user, &task->stop);
    niceness_leave(task->niceness);
    __atomic_store_n(&task->done, true, __ATOMIC_RELEASE);
    return NULL;
}

int background_task_start(struct niceness *niceness, background_work work, void *user,
                          struct background_task **ret_task)
{
    struct background_task *task = malloc(sizeof(*task));
    if (!task)
        return -ENOMEM;
    *task = (struct background_task){.niceness = niceness, .work = work, .user = user};
    int r = thread_start(&task->thread, run, task);
    if (r < 0)
        free(task);
    else
        *ret_task = task;
    return r;
}

bool background_task_is_ready(const struct background_task *task)
{
    return __atomic_load_n(&task->done, __ATOMIC_ACQUIRE);
}

int background_task_result(const struct background_task *task)
{
    return task->result;
}

void background_task_free(struct background_task *task)
{
    if (!task)
        return;
    __atomic_store_n(&task->stop, true, __ATOMIC_RELAXED);
    pthread_join(task->thread, NULL);
    free(task);
}
