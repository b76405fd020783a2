/* A size as benchmarks take it: 2G, 512M or bytes. */
#ifndef KINFS_TESTS_BENCH_SIZE_ARGUMENT_H
#define KINFS_TESTS_BENCH_SIZE_ARGUMENT_H

#include <stdint.h>
#include <stdlib.h>

/* 0: it is none. */
static inline uint64_t size_argument(const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    const uint64_t unit = *end == 'G' ? 1 << 30 : *end == 'M' ? 1 << 20 : 1;
    return value > 0 ? (uint64_t)(value * (double)unit) : 0;
}

#endif
