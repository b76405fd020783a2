/* Parities for the Hamming distance: their number, how they are drawn, and the decision. The idea
 * is told in hamming.h, the drawing of 64 choices at once in hamming_kernel.h.
 *
 * Example at k = 2, where a random choice takes an element with probability 1/4: A = {1 2} and
 * B = {2 3} are at distance 2. The choice {2} gives both the parity 1; {1 2} gives A 0 and B 1;
 * {1 3} gives both 1, as it takes an even number of the elements 1 and 3 that are in one set only.
 * By hamming_agreement() the parities agree with probability (1 + (1 - 1/2)^2) / 2 = 0.625.
 *
 * Cost: some ten random numbers for 64 parities and element (flip_scalar); a comparison is t / 64
 * words of exclusive or. hamming_parities() sums binomial tails and is for set-up only.
 *
 * Left out: storing the choices. They are drawn anew from the seed for each element, so that the
 * elements may be any numbers of 64 bits.
 */
#include "engine/sketch/families/hamming.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/sketch/families/hamming_kernel.h"

enum { SIGNIFICANT_DIGITS = 30 };

double hamming_agreement(uint32_t k, double m)
{
    return (1 + pow(1 - 1. / k, m)) / 2;
}

/* The most parities of t that agree in a pair that is rejected: 11/18, between the shares that are
 * expected at the distances k and 2k (hamming.h). */
static uint32_t most_rejected(uint32_t t)
{
    return (uint32_t)(11 * (uint64_t)t / 18);
}

/* P(at most x of t agree), each with probability p. */
static double at_most(uint32_t x, uint32_t t, double p)
{
    double sum = 0, odds = p / (1 - p);
    /* The terms are added from x down: in the lower tail that is the largest one, and the sum may
     * end at a term too small to change it. */
    double term = exp(lgamma(t + 1.) - lgamma(x + 1.) - lgamma(t - x + 1.) + x * log(p) +
                      (t - x) * log1p(-p));
    for (uint32_t i = x;; i--) {
        sum += term;
        if (i == 0 || term < sum * 1e-17)
            return sum;
        term *= i / ((t - i + 1) * odds);
    }
}

/* True when both errors, at the distances k and 2k, are at most delta with t parities. */
static bool suffices(uint32_t k, double delta, uint32_t t)
{
    double near = hamming_agreement(k, k), far = hamming_agreement(k, 2. * k);
    uint32_t x = most_rejected(t);
    if (at_most(x, t, near) > delta)
        return false;
    /* P(more than x) = P(at most t - x - 1 disagree) */
    return x == t || at_most(t - x - 1, t, 1 - far) <= delta;
}

int hamming_parities(uint32_t k, double delta, uint32_t *ret_t)
{
    if (k < 2)
        return -EDOM;
    if (!(delta > 0 && delta < 0.5))
        return -EINVAL;
    /* The errors fall with t except for the steps of 11 t / 18, which repeat every 18. Among the
     * multiples of 18 the least one that suffices is found by halving; the least t of all is just
     * below it. */
    uint32_t too_few = 0, enough = 18;
    while (!suffices(k, delta, enough)) {
        too_few = enough;
        enough *= 2;
        if (enough > HAMMING_T_MAX)
            return -ERANGE;
    }
    while (enough - too_few > 18) {
        uint32_t middle = too_few + (enough - too_few) / 36 * 18;
        if (middle == too_few)
            middle += 18;
        if (suffices(k, delta, middle))
            enough = middle;
        else
            too_few = middle;
    }
    uint32_t from = enough > 360 ? enough - 360 : 1;
    for (*ret_t = from; !suffices(k, delta, *ret_t);)
        ++*ret_t;
    return 0;
}

int hamming_init(struct hamming *hamming, const uint8_t key[SKETCH_KEY_BYTES], uint32_t k,
                 uint32_t t)
{
    char purpose[40];
    if (k < 2)
        return -EDOM;
    if (t == 0 || t > HAMMING_T_MAX)
        return -EINVAL;
    snprintf(purpose, sizeof(purpose), "parities at %u", k);
    *hamming = (struct hamming){.k = k, .t = t, .n_words = (t + 63) / 64};
    /* 1/(2k) with 30 digits behind its leading zeros, but no zeros at the end */
    int exponent;
    double share = frexp(1. / (2. * k), &exponent);
    hamming->digits = (uint64_t)llround(ldexp(share, SIGNIFICANT_DIGITS));
    hamming->n_digits = (unsigned)(SIGNIFICANT_DIGITS - exponent);
    while (!(hamming->digits & 1)) {
        hamming->digits >>= 1;
        hamming->n_digits--;
    }
    return sketch_key_derive(key, purpose, &hamming->seed, sizeof(hamming->seed));
}

/* The random numbers of eight words are worked out side by side, until none of them has an
 * undecided choice. */
static void flip_scalar(const struct hamming *hamming, const uint64_t *elements, size_t n_elements,
                        uint64_t *parities)
{
    const uint64_t word_step = hamming->n_digits * HAMMING_STEP;
    for (size_t at = 0; at < n_elements; at++) {
        uint64_t seed = hamming_mix(elements[at] ^ hamming->seed);
        for (uint32_t word = 0; word < hamming->n_words; word += HAMMING_WORDS) {
            uint32_t left = hamming->n_words - word,
                     n = left < HAMMING_WORDS ? left : HAMMING_WORDS;
            uint64_t undecided[HAMMING_WORDS], any = UINT64_MAX;
            memset(undecided, 0xff, sizeof(undecided));
            uint64_t digit_seed = seed + word * word_step + hamming->n_digits * HAMMING_STEP;
            for (unsigned i = hamming->n_digits; any && i-- > 0; digit_seed -= HAMMING_STEP) {
                uint64_t digit = -(hamming->digits >> i & 1), word_seed = digit_seed;
                any = 0;
                for (uint32_t j = 0; j < n; j++, word_seed += word_step) {
                    uint64_t ones = undecided[j] & hamming_mix(word_seed);
                    parities[word + j] ^= ones & digit;
                    undecided[j] = ones ^ (undecided[j] & digit);
                    any |= undecided[j];
                }
            }
        }
    }
}

hamming_flip_fn *hamming_flip_of(enum kernel kernel)
{
    if (!kernel_is_there(kernel))
        return NULL;
#if defined(__x86_64__)
    if (kernel == KERNEL_AVX512)
        return hamming_flip_avx512;
#endif
    return flip_scalar;
}

void hamming_flip(const struct hamming *hamming, const uint64_t *elements, size_t n_elements,
                  uint64_t *parities)
{
    hamming_flip_of(kernel_in_use())(hamming, elements, n_elements, parities);
}

uint32_t hamming_differences(const struct hamming *hamming, const uint64_t *a, const uint64_t *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < hamming->n_words; i++) {
        uint32_t left = hamming->t - 64 * i;
        uint64_t mask = left < 64 ? ((uint64_t)1 << left) - 1 : UINT64_MAX;
        n += (uint32_t)__builtin_popcountll((a[i] ^ b[i]) & mask);
    }
    return n;
}

bool hamming_accepts(const struct hamming *hamming, const uint64_t *a, const uint64_t *b)
{
    return hamming->t - hamming_differences(hamming, a, b) > most_rejected(hamming->t);
}
