/* The portable kernel of stream_hash.h: XXH3 as the distribution's library has it. */
#include "engine/sketch/hash/stream_hash.h"

#include <xxhash.h>

#include "engine/sketch/hash/stream_hash_kernel.h"

const struct stream_hash_kernel stream_hash_scalar = STREAM_HASH_KERNEL;

const struct stream_hash_kernel *stream_hash_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
    switch (kernel) {
#if defined(__x86_64__)
    case KERNEL_AVX2: return &stream_hash_avx2;
    case KERNEL_AVX512: return &stream_hash_avx512;
#endif
    default: return &stream_hash_scalar;
    }
}
