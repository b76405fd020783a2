#include "engine/sketch/select_values.h"

size_t select_values_scalar(const uint64_t *values, size_t n, uint64_t last, uint64_t *to)
{
    size_t n_selected = 0;
    for (size_t i = 0; i < n; i++) { /* no branch: which are selected is a matter of chance */
        uint64_t value = values[i];
        to[n_selected] = value;
        n_selected += value <= last;
    }
    return n_selected;
}

select_values_fn *select_values_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
    switch (kernel) {
#if defined(__x86_64__)
    case KERNEL_AVX2: return select_values_avx2;
    case KERNEL_AVX512: return select_values_avx512;
#endif
    default: return select_values_scalar;
    }
}
