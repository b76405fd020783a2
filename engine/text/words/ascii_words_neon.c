/* The NEON kernel folds by a table of 128 bytes, of which a half is looked up at a time, makes
 * masks of 64 bytes, and copies runs of word bytes as ascii_runs.h has it. */
#include <arm_neon.h>

#include "engine/text/words/ascii_words.h"

enum { RUNS_COPY = 32 };

/* Digits have the bit that makes a letter small already; an underscore must not get it. */
static inline uint8x16_t fold(uint8x16_t bytes)
{
    uint8x16_t is_underscore = vceqq_u8(bytes, vdupq_n_u8('_'));
    return vorrq_u8(bytes, vbicq_u8(vdupq_n_u8(0x20), is_underscore));
}

static inline void runs_copy(uint8_t *to, const uint8_t *from)
{
    vst1q_u8(to, fold(vld1q_u8(from)));
    vst1q_u8(to + 16, fold(vld1q_u8(from + 16)));
}

/* A mask of 64 bytes, each of which has all bits set or none. */
static inline uint64_t pack(const uint8x16_t bytes[4])
{
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bit = vld1q_u8(bits);
    uint8x16_t low = vpaddq_u8(vandq_u8(bytes[0], bit), vandq_u8(bytes[1], bit));
    uint8x16_t high = vpaddq_u8(vandq_u8(bytes[2], bit), vandq_u8(bytes[3], bit));
    uint8x16_t all = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(all, all)), 0);
}

/* The masks of 64 bytes. The table of folded bytes is looked up in halves; a byte past a half finds
 * 0 there. */
static inline uint64_t runs_mask(const uint8_t *p, uint64_t *ret_others, uint64_t *ret_hyphens)
{
    const uint8x16x4_t low = vld1q_u8_x4(ascii_words_fold);
    const uint8x16x4_t high = vld1q_u8_x4(ascii_words_fold + 64);
    uint8x16_t word[4], others[4], hyphens[4];
    for (int i = 0; i < 4; i++) {
        uint8x16_t bytes = vld1q_u8(p + 16 * i);
        uint8x16_t folded =
            vorrq_u8(vqtbl4q_u8(low, bytes), vqtbl4q_u8(high, veorq_u8(bytes, vdupq_n_u8(0x40))));
        word[i] = vtstq_u8(folded, folded);
        others[i] = vcltzq_s8(vreinterpretq_s8_u8(bytes));
        hyphens[i] = vceqq_u8(bytes, vdupq_n_u8('-'));
    }
    *ret_others = pack(others);
    *ret_hyphens = pack(hyphens);
    return pack(word);
}

static inline unsigned runs_first(uint64_t mask)
{
    return mask ? (unsigned)__builtin_ctzll(mask) : 64;
}

#include "engine/text/words/ascii_runs.h"

size_t ascii_words_neon(struct words *words, const uint8_t *p, size_t size_bytes)
{
    return runs_words(words, p, size_bytes);
}
