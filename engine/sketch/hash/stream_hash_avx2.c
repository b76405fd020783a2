/* The AVX2 kernel of stream_hash.h: XXH3 compiled into this file with AVX2. */
#define XXH_INLINE_ALL
#define XXH_VECTOR XXH_AVX2
#include <xxhash.h>

#include "engine/sketch/hash/stream_hash_kernel.h"

const struct stream_hash_kernel stream_hash_avx2 = STREAM_HASH_KERNEL;
