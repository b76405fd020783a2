/* What the benchmarks of the engine share: documents in memory. */
#ifndef KINFS_TESTS_BENCH_DOCUMENTS_H
#define KINFS_TESTS_BENCH_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A regular file that is not empty, to be freed with free(). False: it is none, or cannot be read.
 */
bool document_load(const char *path, uint8_t **ret_bytes, size_t *ret_size_bytes);

/* What a document is, for a benchmark: BENCH_N_KINDS when none has a row for it. */
enum bench_kind { BENCH_ASCII, BENCH_UTF8, BENCH_HTML, BENCH_ROFF, BENCH_MAIL, BENCH_N_KINDS };
enum bench_kind document_kind(const uint8_t *bytes, size_t size_bytes);
extern const char *const bench_kind_names[BENCH_N_KINDS];

#endif
