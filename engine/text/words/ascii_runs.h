/* The loop of kernels that can make a mask of word bytes but not compress by it: each run of word
 * bytes is copied, folded on the way, to the place of the next canonical byte. Runs are copied four
 * at a time without a test whether there are so many: a run that is not there has no length.
 *
 * To be included behind definitions of RUNS_COPY, the bytes that go in one copy, and of
 *   runs_copy(to, from)  copies as many, folding the word bytes among them
 *   runs_mask(p, &others, &hyphens)  64 bytes: a bit each that is a word byte; each that is not
 *                 ASCII; and each that is a hyphen
 *   runs_first(mask)  the number of the first bit that is set, 64 where there is none
 * and the kernel itself is runs_words().
 */
#ifndef KINFS_ENGINE_TEXT_WORDS_ASCII_RUNS_H
#define KINFS_ENGINE_TEXT_WORDS_ASCII_RUNS_H

#include <string.h>

#include "engine/text/words/words.h"

enum { RUNS_STEP = 64, RUNS_READ = RUNS_STEP + RUNS_COPY, RUNS_AT_ONCE = 4, RUNS_WORTH = 16 };
_Static_assert((int)RUNS_COPY <= (int)WORDS_OVERRUN, "the last copy may write as far as that");

struct runs_place {
    uint32_t n_bytes, n_tokens;
    uint64_t in_word; /* 0 or 1 */
};

/* Takes the first n of the 64 bytes at p, where RUNS_READ bytes may be read. word has no bits of
 * other bytes. */
static inline __attribute__((always_inline)) void runs_take(struct words *words,
                                                            struct runs_place *place,
                                                            const uint8_t *p, uint64_t word,
                                                            unsigned n)
{
    uint32_t n_bytes = place->n_bytes;
    uint32_t *to = words->ends + place->n_tokens + 1;
    uint64_t ends_before = place->in_word & ~word;
    uint64_t starts = word & ~(word << 1), stops = ~word & word << 1;
    unsigned n_runs = (unsigned)__builtin_popcountll(starts);

    *to = n_bytes;
    to += ends_before;
    for (unsigned done = 0; done < n_runs; done += RUNS_AT_ONCE) {
#pragma GCC unroll 4
        for (unsigned i = 0; i < RUNS_AT_ONCE; i++) {
            unsigned start = runs_first(starts), stop = runs_first(stops);
            starts &= starts - 1;
            stops &= stops - 1;
            runs_copy(words->bytes + n_bytes, p + start);
            if (__builtin_expect(stop - start > RUNS_COPY, 0))
                for (unsigned at = RUNS_COPY; at < stop - start; at += RUNS_COPY)
                    runs_copy(words->bytes + n_bytes + at, p + start + at);
            n_bytes += stop - start;
            *to++ = n_bytes;
        }
    }
    place->in_word = word >> (n - 1) & 1;
    place->n_bytes = n_bytes;
    place->n_tokens += (uint32_t)(ends_before + n_runs - place->in_word);
}

static inline __attribute__((always_inline)) size_t runs_words(struct words *words,
                                                               const uint8_t *p, size_t size_bytes)
{
    struct runs_place place = {words->n_bytes, words->n_tokens,
                               words->n_bytes != words->ends[words->n_tokens]};
    uint8_t copy[RUNS_READ];
    size_t at = 0;
    while (at < size_bytes && place.n_bytes <= WORDS_STEP_BYTES_MAX &&
           place.n_tokens <= WORDS_STEP_TOKENS_MAX &&
           place.n_bytes - words->ends[place.n_tokens] <= CANON_TOKEN_MAX_BYTES - RUNS_STEP) {
        const uint8_t *from = p + at;
        size_t left = size_bytes - at;
        if (left < RUNS_READ) { /* nothing may be read behind them */
            if (left < RUNS_WORTH)
                break;
            memset(copy, 0, sizeof(copy));
            memcpy(copy, from, left);
            from = copy;
        }
        unsigned n = left < RUNS_STEP ? (unsigned)left : RUNS_STEP;
        uint64_t others, hyphens, word = runs_mask(from, &others, &hyphens);
        hyphens &= (word << 1 | place.in_word) & ~(word >> 1);
        if (__builtin_expect(hyphens != 0, 0))
            others |= ascii_words_line_ends(hyphens, from, left);
        if (others) {
            unsigned n_before = (unsigned)__builtin_ctzll(others);
            n = n_before < n ? n_before : n;
            if (n == 0)
                break;
            word &= ~(uint64_t)0 >> (RUNS_STEP - n);
        }
        runs_take(words, &place, from, word, n);
        at += n;
        if (others)
            break;
    }
    words->n_bytes = place.n_bytes;
    words->n_tokens = place.n_tokens;
    return at < size_bytes ? at + ascii_words_scalar(words, p + at, size_bytes - at) : at;
}

#endif
