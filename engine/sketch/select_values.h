/* Copying of values those that do not exceed a bound: what most shingles of a document end at. */
#ifndef KINFS_ENGINE_SKETCH_SELECT_VALUES_H
#define KINFS_ENGINE_SKETCH_SELECT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"

enum { SELECT_VALUES_SLACK = 8 }; /* so many values behind those selected may be overwritten */

/* Copy in order the values up to last, and return how many these are. to may be values itself. */
typedef size_t select_values_fn(const uint64_t *values, size_t n, uint64_t last, uint64_t *to);

/* The one of a kernel, NULL when that is not there. */
select_values_fn *select_values_of(enum kernel kernel);

select_values_fn select_values_scalar, select_values_avx2, select_values_avx512;

#endif
