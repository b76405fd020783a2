/* Arrays that take no memory before they are touched and none after they were freed, which
 * malloc(3) may keep: what is counted as free is. Many elements that are asked for here and there
 * are in large pages where the machine has them, as most of the time would go to finding the small
 * ones. */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_ARRAY_H
#define KINFS_ENGINE_CLUSTER_LARGE_ARRAY_H

#include <stddef.h>

/* Of zeroes; memory comes as it is touched. NULL: there is not so much. */
void *large_array_new(size_t size_bytes);
void large_array_free(void *array, size_t size_bytes); /* NULL allowed */

#endif
