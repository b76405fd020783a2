/* The portable kernel of select_values.h. Every value is stored at the next free place, and the
 * place advances only if the value is small enough: there is no branch, as which values are
 * selected is a matter of chance and would be mispredicted.
 *
 * Example: of 9 3 7 4 up to 5, the place stays at 0 for 9, 3 overwrites it, 7 goes to place 1, and
 * 4 overwrites it: 3 4, and 2 is returned. One store and one comparison a value.
 */
#include "engine/sketch/minima/select_values.h"

size_t select_values_scalar(const uint64_t *values, size_t n, uint64_t last, uint64_t *to)
{
    size_t n_selected = 0;
    for (size_t i = 0; i < n; i++) {
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
