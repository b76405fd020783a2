/* What the benchmarks of the engine share: documents in memory, and a clock. */
#ifndef KINFS_TESTS_BENCH_DOCUMENTS_H
#define KINFS_TESTS_BENCH_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular file that is not empty, to be freed with free(). False: it is none, or cannot be read.
 */
bool document_load(const char *path, uint8_t **ret_bytes, size_t *ret_size_bytes);

/* Processor time of this thread. */
double thread_seconds(void);

#endif
