/* Arrays that take no memory before they are touched and none after they were freed. Memory that is
 * freed by free(3) may stay with the process, and budget.h would count it twice. Arrays that are
 * asked here and there are in large pages where the machine has them, as most of the time would go
 * to finding small ones. */
#ifndef KINFS_ENGINE_CLUSTER_LARGE_LARGE_ARRAY_H
#define KINFS_ENGINE_CLUSTER_LARGE_LARGE_ARRAY_H

#include <stddef.h>

/* An array of zeroes, which takes memory as it is touched. NULL: there is not enough. */
void *large_array_new(size_t size_bytes);
void large_array_free(void *array, size_t size_bytes); /* NULL allowed */

#endif
