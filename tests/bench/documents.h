/* What the benchmarks of the engine share: documents in memory, by what they are. */
#ifndef KINFS_TESTS_BENCH_DOCUMENTS_H
#define KINFS_TESTS_BENCH_DOCUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/text/type.h"

struct document {
    uint8_t *bytes;
    size_t size_bytes;
};

struct kind {
    const char *name;
    enum text_type type;
    struct document *documents;
    size_t n, size_bytes;
    size_t n_tokens; /* the benchmark's own */
};

enum { BENCH_ASCII, BENCH_UTF8, BENCH_HTML, BENCH_ROFF, BENCH_MAIL, BENCH_N_KINDS };

/* Reads a file. Returns false where it is no regular file, is empty or cannot be read; the bytes
 * are the caller's. */
bool document_load(const char *path, struct document *ret_document);

/* Read files. What is no regular file, is empty or cannot be read is left out, and what is of none
 * of the kinds. Without memory the process ends. */
void kinds_load(struct kind kinds[BENCH_N_KINDS], char **paths, size_t n);
void kinds_done(struct kind kinds[BENCH_N_KINDS]);

#endif
