/* A product of 62 bits is folded: its upper 31 bits are added to its lower ones, as 2^31 is 1
 * modulo 2^31 - 1, and P is subtracted once where the sum reaches it. All numbers are then signed
 * and there is no branch, so that compilers make vector instructions of it on any x86-64, some 1 ns
 * a value.
 *
 * Example: 5 * 2^31 + 7 becomes 12.
 */
#include "engine/topic/weighted/flat_take.h"

static void take(const struct flat_functions *functions, const uint32_t *elements, size_t n,
                 int32_t least[BAG_SIGNATURES])
{
    for (size_t j = 0; j < n; j++)
        for (unsigned i = 0; i < BAG_SIGNATURES; i++) {
            uint64_t product = (uint64_t)functions->a[i] * elements[j] + functions->b[i];
            int32_t value =
                (int32_t)(product & FLAT_PRIME) + ((int32_t)(product >> 31) - FLAT_PRIME);
            value += value >> 31 & FLAT_PRIME;
            least[i] = value < least[i] ? value : least[i];
        }
}

flat_take flat_take_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
    switch (kernel) {
#if defined(__x86_64__)
    case KERNEL_AVX2:
    case KERNEL_AVX512: return flat_take_avx2;
#endif
    default: return take;
    }
}
