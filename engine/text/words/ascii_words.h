/* The kernels of words.c: ASCII to tokens, and with AVX-512 letters of two bytes among it. The
 * results of all kernels are the same to the bit.
 *
 * A kernel takes bytes from p on, at most size_bytes, up to the first that is not ASCII (AVX-512:
 * nor of a letter of two bytes whose folding has as many, or that ends behind size_bytes), or that
 * is a hyphen with a control character or a blank behind it, as at the end of a line, and sometimes
 * any hyphen. It
 * stops before when the block is past WORDS_STEP_BYTES_MAX or WORDS_STEP_TOKENS_MAX, or when the
 * open token might get longer than CANON_TOKEN_MAX_BYTES by one more step (at most 64 bytes). It
 * leaves the last token open, and hands out nothing. Returns the number of bytes taken.
 *
 * A kernel writes more than it keeps: bytes behind words->n_bytes and ends behind
 * words->ends[n_tokens] are of no value.
 */
#ifndef KINFS_ENGINE_TEXT_WORDS_ASCII_WORDS_H
#define KINFS_ENGINE_TEXT_WORDS_ASCII_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"

struct words;
typedef size_t ascii_words_fn(struct words *words, const uint8_t *p, size_t size_bytes);

ascii_words_fn ascii_words_scalar;
ascii_words_fn ascii_words_avx2;
ascii_words_fn ascii_words_avx512;
ascii_words_fn ascii_words_neon;

/* Selects from the hyphens among the next 64 bytes (a bit each), at most size_bytes, those with a
 * control character, a blank or nothing behind them. */
static inline uint64_t ascii_words_line_ends(uint64_t hyphens, const uint8_t *p, size_t size_bytes)
{
    uint64_t ends = 0;
    for (; hyphens; hyphens &= hyphens - 1) {
        size_t next = (size_t)__builtin_ctzll(hyphens) + 1;
        if (next >= size_bytes || p[next] <= ' ')
            ends |= hyphens & -hyphens;
    }
    return ends;
}

/* The function of a kernel; NULL when this program has none. */
ascii_words_fn *ascii_words(enum kernel kernel);

/* The canonical byte of an ASCII character, 0 for separators. */
extern const uint8_t ascii_words_fold[128];

#endif
