/* Large arrays are mapped and not taken from malloc(3): their pages come as they are touched and go
 * back to the machine when the array is freed. Arrays of less than 128 KiB come from calloc(3).
 *
 * Example: an array of 120 MB for 30 million documents, of which 1 million are used, takes 4 MB. A
 * mapping costs a system call, and each page a fault on its first touch; arrays of two large pages
 * or more ask for large pages, which saves most of the faults.
 */
#include "engine/cluster/large/large_array.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    OWN_BYTES = 128 << 10, /* from here on an array has pages of its own */
    LARGE_BYTES = 4 << 20, /* two large pages of 2 MiB */
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
