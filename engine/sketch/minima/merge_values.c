#include "engine/sketch/minima/merge_values.h"

#include <stddef.h>

merge_values_fn *merge_values_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
    switch (kernel) {
#if defined(__x86_64__)
    case KERNEL_AVX2: return merge_values_avx2;
    case KERNEL_AVX512: return merge_values_avx512;
#endif
    default: return merge_values_scalar;
    }
}

void merge_values(struct value_merge *merge, uint32_t u_end)
{
    switch (kernel_in_use()) {
#if defined(__x86_64__)
    case KERNEL_AVX2: merge_values_avx2(merge, u_end); break;
    case KERNEL_AVX512: merge_values_avx512(merge, u_end); break;
#endif
    default: merge_values_scalar(merge, u_end); break;
    }
}
