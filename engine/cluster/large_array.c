#include "engine/cluster/large_array.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    OWN_BYTES = 128 << 10, /* pages of their own, which the machine has back at once */
    LARGE_BYTES = 4 << 20, /* two pages of those that are large */
};

void *large_array_new(size_t size_bytes)
{
    if (size_bytes < OWN_BYTES)
        return calloc(size_bytes ? size_bytes : 1, 1);
    void *array = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (array == MAP_FAILED)
        return NULL;
    if (size_bytes >= LARGE_BYTES)
        (void)madvise(array, size_bytes, MADV_HUGEPAGE); /* where there are none it is slower */
    return array;
}

void large_array_free(void *array, size_t size_bytes)
{
    if (size_bytes < OWN_BYTES)
        free(array);
    else if (array)
        munmap(array, size_bytes);
}
