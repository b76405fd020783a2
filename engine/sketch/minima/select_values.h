/* The selection of values that do not exceed a bound. Most shingles of a document go no further
 * than here. */
#ifndef KINFS_ENGINE_SKETCH_MINIMA_SELECT_VALUES_H
#define KINFS_ENGINE_SKETCH_MINIMA_SELECT_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"

enum { SELECT_VALUES_SLACK = 8 }; /* so many values behind those selected may be overwritten */

/* A selection copies the values up to last, in order, and returns their number. `to` may be
 * `values` itself. */
typedef size_t select_values_fn(const uint64_t *values, size_t n, uint64_t last, uint64_t *to);

/* The function of a kernel; NULL when this processor does not have it. */
select_values_fn *select_values_of(enum kernel kernel);

select_values_fn select_values_scalar, select_values_avx2, select_values_avx512;

#endif
