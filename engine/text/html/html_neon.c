/* The NEON kernel of html_stride.h: a block is four vectors of 16 bytes. */
#include <arm_neon.h>
#include <stdint.h>

typedef uint8x16x4_t block;

static inline block block_load(const uint8_t *p)
{
    return vld1q_u8_x4(p);
}

static inline void block_store(uint8_t *p, block b)
{
    vst1q_u8_x4(p, b);
}

/* A mask of 64 bytes, each of which has all bits set or none. */
static inline uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bit = vld1q_u8(bits);
    uint8x16_t low = vpaddq_u8(vandq_u8(a, bit), vandq_u8(b, bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(c, bit), vandq_u8(d, bit));
    low = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

static inline uint64_t block_equal(block b, char c)
{
    uint8x16_t all = vdupq_n_u8((uint8_t)c);
    return bits_of(vceqq_u8(b.val[0], all), vceqq_u8(b.val[1], all), vceqq_u8(b.val[2], all),
                   vceqq_u8(b.val[3], all));
}

static inline uint8x16_t is_space(uint8x16_t bytes)
{
    /* '\t' to '\r' without '\v' */
    uint8x16_t control = vbicq_u8(vcltq_u8(vsubq_u8(bytes, vdupq_n_u8('\t')), vdupq_n_u8(5)),
                                  vceqq_u8(bytes, vdupq_n_u8('\v')));
    return vorrq_u8(control, vceqq_u8(bytes, vdupq_n_u8(' ')));
}

static inline uint64_t block_space(block b)
{
    return bits_of(is_space(b.val[0]), is_space(b.val[1]), is_space(b.val[2]), is_space(b.val[3]));
}

#define STRIDE html_stride_neon
#include "engine/text/html/html_stride.h"
