/* Threads of an index have the nice value 19, and 10 while somebody waits for them: they still
 * stand back behind the threads that serve users.
 *
 * Coming back from 19 to 10 needs CAP_SYS_NICE. A thread finds out whether it may when it joins, by
 * going from 10 to 9; one that may not stays at 10, as it could never come back.
 */
#include "base/niceness.h"

#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"

void niceness_init(struct niceness *niceness)
{
    *niceness = (struct niceness){0};
    pthread_mutex_init(&niceness->lock, NULL);
}

void niceness_done(struct niceness *niceness)
{
    pthread_mutex_destroy(&niceness->lock);
}

/* Sets the nice value of a thread; 0 is the calling one. */
static int set(pid_t thread, int value)
{
    return setpriority(PRIO_PROCESS, (id_t)thread, value);
}

void niceness_join(struct niceness *niceness)
{
    set(0, NICENESS_WAITED);
    if (set(0, NICENESS_WAITED - 1) < 0)
        return;
    LOCKED(&niceness->lock);
    bool has_room = niceness->n_threads < NICENESS_MAX_THREADS;
    if (has_room)
        niceness->threads[niceness->n_threads++] = gettid();
    set(0, has_room && !niceness->n_waiting ? NICENESS_UNWAITED : NICENESS_WAITED);
}

void niceness_leave(struct niceness *niceness)
{
    pid_t self = gettid();
    LOCKED(&niceness->lock);
    for (size_t i = 0; i < niceness->n_threads; i++)
        if (niceness->threads[i] == self)
            niceness->threads[i--] = niceness->threads[--niceness->n_threads];
}

static void set_all(const struct niceness *niceness, int value)
{
    for (size_t i = 0; i < niceness->n_threads; i++)
        set(niceness->threads[i], value);
}

void niceness_wait_begin(struct niceness *niceness)
{
    LOCKED(&niceness->lock);
    if (niceness->n_waiting++ == 0)
        set_all(niceness, NICENESS_WAITED);
}

void niceness_wait_end(struct niceness *niceness)
{
    LOCKED(&niceness->lock);
    if (--niceness->n_waiting == 0)
        set_all(niceness, NICENESS_UNWAITED);
}
