/* The AVX-512 scan looks at eight filters at a time: the differing bits of each are counted in a
 * register, and the sums of eight registers are brought together in one. A filter that may pass is
 * then decided by overlap_filter_passes(), so that the result is that of the portable scan. */
#include <immintrin.h>

#include "engine/cluster/pairs/overlap_filter.h"

enum { LANES = 8 };

_Static_assert(sizeof(struct overlap_filter) == 72, "n, n_v and complete follow the bits");

/* The least n_a + n_b - differing that passes where not both sketches are complete: as
 * overlap_filter_passes() has it, to the bit. */
static int64_t least_passing(uint32_t s, double at_least)
{
    int64_t sum = (int64_t)(2 * at_least * s) - 2;
    while (0.5 * (double)sum * (1 + 1e-9) < at_least * s)
        sum++;
    return sum;
}

static __m512i count_differing(__m512i bits, const struct overlap_filter *other)
{
    return _mm512_popcnt_epi64(_mm512_xor_si512(bits, _mm512_loadu_si512(other->bits)));
}

/* In each lane of 128 bits, the sum of the two halves of x, then that of y. */
static __m512i add_pairs(__m512i x, __m512i y)
{
    return _mm512_add_epi64(_mm512_unpacklo_epi64(x, y), _mm512_unpackhi_epi64(x, y));
}

/* The sums of neighbouring lanes of x, then those of y. */
static __m512i add_lanes(__m512i x, __m512i y)
{
    return _mm512_add_epi64(_mm512_shuffle_i64x2(x, y, 0x88), _mm512_shuffle_i64x2(x, y, 0xdd));
}

/* The numbers of bits in which eight filters differ from `bits`. */
static __m512i count_eight(__m512i bits, const struct overlap_filter *others)
{
    __m512i sums[4];
    for (unsigned i = 0; i < 4; i++)
        sums[i] = add_pairs(count_differing(bits, &others[2 * i]),
                            count_differing(bits, &others[2 * i + 1]));
    return add_lanes(add_lanes(sums[0], sums[1]), add_lanes(sums[2], sums[3]));
}

size_t overlap_scan_avx512(const struct overlap_filter *filter, uint32_t set,
                           const struct overlap_filter *filters, const uint32_t *sets, size_t from,
                           size_t n, uint32_t s, double at_least, uint64_t *n_others)
{
    const __m512i bits = _mm512_loadu_si512(filter->bits);
    const __m512i places = _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
                                              _mm512_set1_epi64(sizeof(struct overlap_filter)));
    const __m512i least = _mm512_set1_epi64(least_passing(s, at_least) - (int64_t)filter->n);
    const __m512i most_v = _mm512_set1_epi64((int64_t)s - (int64_t)filter->n_v);
    const __m512i complete = _mm512_set1_epi64(filter->complete ? INT64_MIN : 0);
    const __m512i low = _mm512_set1_epi64(UINT32_MAX), v_bits = _mm512_set1_epi64(INT32_MAX);
    while (from + LANES <= n) {
        const struct overlap_filter *others = &filters[from];
        unsigned other_set = _mm256_cmpneq_epu32_mask(
            _mm256_loadu_si256((const __m256i *)(const void *)(sets + from)),
            _mm256_set1_epi32((int)set));
        if (!other_set) {
            from += LANES;
            continue;
        }
        __m512i words = _mm512_i64gather_epi64(places, &others->n, 1);
        __m512i sum = _mm512_sub_epi64(_mm512_and_si512(words, low), count_eight(bits, others));
        __m512i n_v = _mm512_and_si512(_mm512_srli_epi64(words, 32), v_bits);
        unsigned maybe = _mm512_cmpge_epi64_mask(sum, least) |
                         _mm512_cmpgt_epi64_mask(n_v, most_v) |
                         _mm512_test_epi64_mask(words, complete);
        maybe &= other_set;
        if (!maybe) {
            *n_others += (unsigned)__builtin_popcount(other_set);
            from += LANES;
            continue;
        }
        unsigned first = (unsigned)__builtin_ctz(maybe);
        *n_others += (unsigned)__builtin_popcount(other_set & ((2u << first) - 1));
        from += first;
        if (overlap_filter_passes(filter, &filters[from], s, at_least))
            return from;
        from++;
    }
    return overlap_scan(filter, set, filters, sets, from, n, s, at_least, n_others);
}
