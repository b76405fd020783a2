/* The inner loop of flat.h: least values of linear functions. */
#ifndef KINFS_ENGINE_TOPIC_WEIGHTED_FLAT_TAKE_H
#define KINFS_ENGINE_TOPIC_WEIGHTED_FLAT_TAKE_H

#include <stddef.h>

#include "base/kernel.h"
#include "engine/topic/weighted/bag_sketch.h"

enum { FLAT_PRIME = 0x7fffffff };

/* (ax + b) mod FLAT_PRIME: 0 < a < FLAT_PRIME, b < FLAT_PRIME. */
struct flat_functions {
    uint32_t a[BAG_SIGNATURES], b[BAG_SIGNATURES];
};

/* least[i] becomes the least of itself and of the values of function i at the elements, all of
 * which are below FLAT_PRIME. */
typedef void (*flat_take)(const struct flat_functions *functions, const uint32_t *elements,
                          size_t n, int32_t least[BAG_SIGNATURES]);

/* All have the same results. NULL where the kernel is not there. */
flat_take flat_take_of(enum kernel kernel);

void flat_take_avx2(const struct flat_functions *functions, const uint32_t *elements, size_t n,
                    int32_t least[BAG_SIGNATURES]);

#endif
