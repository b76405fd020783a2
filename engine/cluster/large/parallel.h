/* A piece of work done by several threads, and the processor time that it took. */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_PARALLEL_H
#define KINFS_ENGINE_CLUSTER_LARGE_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

enum { PARALLEL_MAX_THREADS = 64 };

/* Returns 0 or an error. A thread ends with 0 soon after parallel_stopped(): another one has
 * failed.
 */
typedef int (*parallel_work)(void *user, unsigned thread, const bool *stop);

/* Runs work in n_threads threads (1 to PARALLEL_MAX_THREADS), one of which is the caller's, thread
 * 0. Where threads cannot be started, fewer do the work. Adds the processor time of all to *cpu_s.
 * Returns 0 or the first error. */
int parallel_run(unsigned n_threads, parallel_work work, void *user, double *cpu_s);

double parallel_cpu_s(void); /* of the calling thread */

static inline bool parallel_stopped(const bool *stop)
{
    return __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* True when the caller of a batch has cancelled it; stop is NULL where it cannot. */
static inline bool parallel_told(const bool *stop)
{
    return stop && parallel_stopped(stop);
}

/* The next of the numbers 0 .. n-1, each of which is given to one thread. */
static inline uint32_t parallel_next(uint32_t *next)
{
    return __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
}

#endif
