/* Threads for one task: they are started, take pieces of work by parallel_next() until there are
 * none, and are joined. The first error sets `stop`, which the others read between pieces.
 *
 * Example: 2,048 partitions and two threads; each takes the next number, so that neither waits
 * while there is work. Cost: starting the threads. Left out: a pool that lives on; a phase takes
 * seconds or more.
 */
#include "engine/cluster/large/parallel.h"

#include <time.h>

#include "base/thread.h"

struct run {
    parallel_work work;
    void *user;
    bool stop;
};

struct part {
    struct run *run;
    pthread_t thread;
    unsigned number;
    int result;
    double cpu_s;
};

double parallel_cpu_s(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *run_part(void *user)
{
    struct part *part = user;
    double begin_s = parallel_cpu_s();
    part->result = part->run->work(part->run->user, part->number, &part->run->stop);
    part->cpu_s = parallel_cpu_s() - begin_s;
    if (part->result < 0)
        __atomic_store_n(&part->run->stop, true, __ATOMIC_RELAXED);
    return NULL;
}

int parallel_run(unsigned n_threads, parallel_work work, void *user, double *cpu_s)
{
    struct part parts[PARALLEL_MAX_THREADS];
    struct run run = {work, user, false};
    unsigned n = 1;
    while (n < n_threads) {
        parts[n] = (struct part){.run = &run, .number = n};
        if (thread_start(&parts[n].thread, run_part, &parts[n]) < 0)
            break;
        n++;
    }
    parts[0] = (struct part){.run = &run};
    run_part(&parts[0]);
    int result = parts[0].result;
    *cpu_s += parts[0].cpu_s;
    for (unsigned i = 1; i < n; i++) {
        pthread_join(parts[i].thread, NULL);
        *cpu_s += parts[i].cpu_s;
        if (result == 0)
            result = parts[i].result;
    }
    return result;
}
