/* The AVX2 kernel of html_stride.h: a block is two vectors of 32 bytes. */
#include <immintrin.h>
#include <stdint.h>

typedef struct {
    __m256i low, high;
} block;

static inline block block_load(const uint8_t *p)
{
    return (block){_mm256_loadu_si256((const __m256i *)p),
                   _mm256_loadu_si256((const __m256i *)(p + 32))};
}

static inline void block_store(uint8_t *p, block b)
{
    _mm256_storeu_si256((__m256i *)p, b.low);
    _mm256_storeu_si256((__m256i *)(p + 32), b.high);
}

static inline uint64_t equal(block b, __m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b.low, low)) |
           (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b.high, high)) << 32;
}

static inline uint64_t block_equal(block b, char c)
{
    __m256i all = _mm256_set1_epi8(c);
    return equal(b, all, all);
}

/* No two white space characters have the same low four bits: these look up the only one that the
 * byte can be. */
static inline uint64_t block_space(block b)
{
    const __m256i spaces = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, '\f', '\r', 0, 0));
    return equal(b, _mm256_shuffle_epi8(spaces, b.low), _mm256_shuffle_epi8(spaces, b.high));
}

#define STRIDE html_stride_avx2
#include "engine/text/html/html_stride.h"
