/* The scalar kernel: sixteen bytes at a time through a table, with no branch that depends on the
 * text. Each byte is written where the next canonical byte belongs, which moves on only behind a
 * word character; and the end of a token is written where the next end belongs, which moves on only
 * behind the last character of a word.
 */
#include "engine/text/words/ascii_words.h"

#include <string.h>

#include "engine/text/words/words.h"

enum { STEP = 16 };

#define ONES UINT64_C(0x0101010101010101)

static inline size_t first_of(uint64_t high_bits)
{
    return (size_t)__builtin_ctzll(high_bits) / 8;
}

const uint8_t ascii_words_fold[128] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6',
    ['7'] = '7', ['8'] = '8', ['9'] = '9', ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd',
    ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i', ['J'] = 'j', ['K'] = 'k',
    ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
    ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y',
    ['Z'] = 'z', ['_'] = '_', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e',
    ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l',
    ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r', ['s'] = 's',
    ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z',
};

/* True when p is a hyphen and a line may end behind it, as behind the last byte there is. */
static inline bool may_end_line(const uint8_t *p, size_t size_bytes)
{
    return *p == '-' && (size_bytes == 1 || p[1] <= ' ');
}

/* The first of eight bytes, with one behind them, that is not ASCII, or is a hyphen that may end a
 * line, has its high bit set in the result: no bit of what it differs in from one is left, and its
 * next byte is no more than a blank. The bits behind that byte say nothing. */
static inline uint64_t others_ahead(const uint8_t *p)
{
    uint64_t bytes, next;
    memcpy(&bytes, p, sizeof(bytes));
    memcpy(&next, p + 1, sizeof(next));
    uint64_t is_more = (next + (0x7f - ' ') * ONES) >> 1 & 0x40 * ONES;
    uint64_t line_ends = (bytes ^ '-' * ONES) | is_more; /* where it is 0 */
    return ((line_ends - ONES) | bytes) & 0x80 * ONES;
}

/* The number of the next bytes, at most STEP, that are ASCII, and no hyphen that may end a line. */
static inline size_t ascii_ahead(const uint8_t *p, size_t size_bytes)
{
    size_t n = 0;
    if (size_bytes > STEP) {
        uint64_t low = others_ahead(p), high = others_ahead(p + STEP / 2);
        if (!(low | high))
            return STEP;
        return low ? first_of(low) : STEP / 2 + first_of(high);
    }
    while (n < size_bytes && n < STEP && p[n] < 0x80 && !may_end_line(p + n, size_bytes - n))
        n++;
    return n;
}

struct place {
    uint32_t n_bytes, n_tokens, in_word;
};

static inline __attribute__((always_inline)) void take(struct words *words, struct place *place,
                                                       uint8_t byte)
{
    uint8_t folded = ascii_words_fold[byte];
    uint32_t is_word = folded != 0;
    words->bytes[place->n_bytes] = folded;
    words->ends[place->n_tokens + 1] = place->n_bytes;
    place->n_tokens += place->in_word & ~is_word;
    place->n_bytes += is_word;
    place->in_word = is_word;
}

size_t ascii_words_scalar(struct words *words, const uint8_t *p, size_t size_bytes)
{
    struct place place = {words->n_bytes, words->n_tokens,
                          words->n_bytes != words->ends[words->n_tokens]};
    size_t at = 0, n;
    while ((n = ascii_ahead(p + at, size_bytes - at)) > 0 &&
           place.n_bytes <= WORDS_STEP_BYTES_MAX && place.n_tokens <= WORDS_STEP_TOKENS_MAX &&
           place.n_bytes - words->ends[place.n_tokens] <= CANON_TOKEN_MAX_BYTES - STEP) {
        const uint8_t *from = p + at;
        if (n == STEP) {
#pragma GCC unroll 16
            for (size_t i = 0; i < STEP; i++)
                take(words, &place, from[i]);
        } else {
            for (size_t i = 0; i < n; i++)
                take(words, &place, from[i]);
        }
        at += n;
        /* One that stands behind no word says nothing. */
        if (n < STEP && at < size_bytes && p[at] == '-' && !place.in_word)
            take(words, &place, p[at++]);
    }
    words->n_bytes = place.n_bytes;
    words->n_tokens = place.n_tokens;
    return at;
}

ascii_words_fn *ascii_words(enum kernel kernel)
{
    switch (kernel) {
    case KERNEL_SCALAR: return ascii_words_scalar;
#if defined(__x86_64__)
    case KERNEL_AVX2: return ascii_words_avx2;
    case KERNEL_AVX512: return ascii_words_avx512;
#elif defined(__aarch64__)
    case KERNEL_NEON: return ascii_words_neon;
#endif
    default: return NULL;
    }
}
