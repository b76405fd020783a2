/* Parts that vector kernels have in common; a file that includes this has defined windows_of(). */
#include "engine/sketch/hash/shingle_hash_kernel.h"

static void windows(const struct shingle_hash *hash, const uint64_t *p, size_t n_windows,
                    uint64_t *ret)
{
    const struct window_keys *keys = &hash->window[hash->w - 1];
    switch (hash->w) { /* the presets: a constant w is unrolled, and its keys stay in registers */
    case 5: windows_of(keys, 5, p, n_windows, ret); break;
    case 10: windows_of(keys, 10, p, n_windows, ret); break;
    default: windows_of(keys, hash->w, p, n_windows, ret); break;
    }
}

#if defined(__x86_64__)
static void features(const struct shingle_hash *hash, const struct feature *p, size_t n,
                     uint64_t *ret)
{
    const __m128i keys = _mm_loadu_si128((const __m128i *)hash->feature_key);
    for (size_t i = 0; i < n; i++) {
        const __m128i halves = _mm_loadu_si128((const __m128i *)&p[i]);
        const __m128i sum = _mm_xor_si128(_mm_clmulepi64_si128(halves, keys, 0x00),
                                          _mm_clmulepi64_si128(halves, keys, 0x11));
        ret[i] = hash->feature_offset ^
                 gf64_reduce((uint64_t)_mm_extract_epi64(sum, 1), (uint64_t)_mm_cvtsi128_si64(sum));
    }
}
#endif
