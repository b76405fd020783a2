/* The AVX-512 kernel of html_stride.h: a block is one vector of 64 bytes. */
#include <immintrin.h>
#include <stdint.h>

typedef __m512i block;

static inline block block_load(const uint8_t *p)
{
    return _mm512_loadu_si512(p);
}

static inline void block_store(uint8_t *p, block b)
{
    _mm512_storeu_si512(p, b);
}

static inline uint64_t block_equal(block b, char c)
{
    return _mm512_cmpeq_epi8_mask(b, _mm512_set1_epi8(c));
}

/* No two white space characters have the same low four bits: these look up the only one that the
 * byte can be. */
static inline uint64_t block_space(block b)
{
    const __m512i spaces = _mm512_broadcast_i32x4(
        _mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, '\f', '\r', 0, 0));
    return _mm512_cmpeq_epi8_mask(b, _mm512_shuffle_epi8(spaces, b));
}

#define STRIDE html_stride_avx512
#include "engine/text/html/html_stride.h"
