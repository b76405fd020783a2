/* The scalar kernel: eight bytes at a time through a table, with no branch that depends on the
 * text. Each byte is written where the next canonical byte belongs, which moves on only behind a
 * word character; and the end of a token is written where the next end belongs, which moves on only
 * behind the last character of a word.
 */
#include "engine/text/ascii_words.h"

#include <string.h>

#include "engine/text/words.h"

enum { STEP = 8 };

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

/* Whether a line may end behind a hyphen at p; so where nothing is. */
static inline bool may_end_line(const uint8_t *p, size_t size_bytes)
{
    return *p == '-' && (size_bytes == 1 || p[1] < ' ');
}

/* How many of the next bytes, at most STEP, are ASCII, and no hyphen that may end a line. */
static inline size_t ascii_ahead(const uint8_t *p, size_t size_bytes)
{
    const uint64_t ones = 0x0101010101010101, high = 0x80 * ones;
    size_t n = 0;
    if (size_bytes > STEP) {
        uint64_t step, next;
        memcpy(&step, p, STEP);
        uint64_t hyphens = ~(((step ^ '-' * ones) + 0x7f * ones)); /* of ASCII, where it is one */
        if (!((hyphens | step) & high))
            return STEP;
        memcpy(&next, p + 1, STEP);
        uint64_t others = ((hyphens & ~((next | next << 1) << 1)) | step) & high;
        return others ? (size_t)__builtin_ctzll(others) / 8 : STEP;
    }
    while (n < size_bytes && n < STEP && p[n] < 0x80 && !may_end_line(p + n, size_bytes - n))
        n++;
    return n;
}

struct place {
    uint32_t n_bytes, n_tokens, in_word;
};

static inline __attribute__((always_inline)) void take(struct words *words, struct place *place,
                                                       const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t folded = ascii_words_fold[p[i]];
        uint32_t is_word = folded != 0;
        words->bytes[place->n_bytes] = folded;
        words->ends[place->n_tokens + 1] = place->n_bytes;
        place->n_tokens += place->in_word & ~is_word;
        place->n_bytes += is_word;
        place->in_word = is_word;
    }
}

size_t ascii_words_scalar(struct words *words, const uint8_t *p, size_t size_bytes)
{
    struct place place = {words->n_bytes, words->n_tokens,
                          words->n_bytes != words->ends[words->n_tokens]};
    size_t at = 0, n;
    while ((n = ascii_ahead(p + at, size_bytes - at)) > 0 &&
           place.n_bytes <= WORDS_STEP_BYTES_MAX && place.n_tokens <= WORDS_STEP_TOKENS_MAX &&
           place.n_bytes - words->ends[place.n_tokens] <= CANON_TOKEN_MAX_BYTES - STEP) {
        if (n == STEP)
            take(words, &place, p + at, STEP);
        else
            take(words, &place, p + at, n);
        at += n;
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
