/* The most frequent values of a long stream, in bounded memory (Misra and Gries, Finding repeated
 * elements, 1982): counters that are all lowered when they run out. */
#ifndef KINFS_ENGINE_CLUSTER_FREQUENT_H
#define KINFS_ENGINE_CLUSTER_FREQUENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct frequent;

/* n_counters: a value that is more than one in n_counters of all there were is not missed. Returns
 * 0, -EINVAL (0, or more than 2^24) or -ENOMEM; 32 bytes a counter. One thread at a time. */
int frequent_new(size_t n_counters, struct frequent **ret_frequent);
void frequent_free(struct frequent *frequent);
DEFINE_CLEANUP(struct frequent *, frequent_free);

/* Amortised constant time, no allocation. */
void frequent_add(struct frequent *frequent, uint64_t value);

/* The most by which a value may have come more often than its counter says. */
uint64_t frequent_missed(const struct frequent *frequent);

/* The values that may be among the n most frequent, the largest counters first and of equal ones
 * the smaller values, at most max of them. One that was there no more often than can be missed may
 * be lacking. Returns how many. */
struct frequent_value {
    uint64_t value, count; /* the value came at least count times */
};
size_t frequent_candidates(struct frequent *frequent, size_t n, struct frequent_value *ret_values,
                           size_t max);

#endif
