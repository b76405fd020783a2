/* Rabin fingerprints: a string of bits is a polynomial over GF(2), its fingerprint the remainder by
 * an irreducible polynomial. Appending a byte shifts the remainder by eight and reduces the bits
 * that go past the degree, by one look-up.
 *
 * Example of degree 3, with t^3 + t + 1 = 1011: the string 1101 is appended bit by bit: 1, 11, 110,
 * and then 1101, which is reduced to 1101 ^ 1011 = 110.
 *
 * A window of w tokens is the difference of two prefixes: with P_i the fingerprint of all bytes up
 * to token i, that of tokens i-w+1 .. i is P_i - P_(i-w) t^(8 bytes of the window), one
 * multiplication by a power that was worked out before.
 *
 * Cost: a look-up a byte, and 45 steps or so for a multiplication a window. The polynomial is drawn
 * once a key, some 20 tests for irreducibility.
 *
 * Left out: carry-less multiplication by the processor. These fingerprints serve the family of
 * broder_sketch.c alone; the index uses shingle_hash.c.
 */
#include "engine/sketch/hash/rabin.h"

#include <errno.h>

#include "engine/sketch/policy.h"
#include "engine/text/canon.h"

enum { DRAWN = 512, END_OF_TOKEN = 0xff };

/* -- polynomials of any degree up to 63 -- */

static unsigned degree(uint64_t a)
{
    return 63 - (unsigned)__builtin_clzll(a);
}

static uint64_t remainder_of(uint64_t a, uint64_t divisor)
{
    while (a && degree(a) >= degree(divisor))
        a ^= divisor << (degree(a) - degree(divisor));
    return a;
}

static uint64_t product_mod(uint64_t a, uint64_t b, uint64_t modulus)
{
    uint64_t product = 0, top = (uint64_t)1 << degree(modulus);
    for (a = remainder_of(a, modulus); b; b >>= 1) {
        product ^= b & 1 ? a : 0;
        a <<= 1;
        a ^= a & top ? modulus : 0;
    }
    return product;
}

/* t^(2^n) mod modulus */
static uint64_t power_of_two_mod(unsigned n, uint64_t modulus)
{
    uint64_t power = remainder_of(2, modulus);
    while (n-- > 0)
        power = product_mod(power, power, modulus);
    return power;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = remainder_of(a, b);
        a = b;
        b = rest;
    }
    return a;
}

/* f of degree d is irreducible iff it divides t^(2^d) - t, which is the product of all irreducible
 * polynomials of degrees that divide d, and has no divisor in common with t^(2^(d/p)) - t for the
 * primes p that divide d: whatever factor of lower degree it had would be in one of these. */
bool rabin_is_irreducible(uint64_t polynomial)
{
    unsigned d = degree(polynomial), rest = d;
    if (power_of_two_mod(d, polynomial) != remainder_of(2, polynomial))
        return false;
    for (unsigned p = 2; p <= rest; p++) {
        if (rest % p != 0)
            continue;
        while (rest % p == 0)
            rest /= p;
        uint64_t difference = power_of_two_mod(d / p, polynomial) ^ remainder_of(2, polynomial);
        if (common_divisor(polynomial, difference) != 1)
            return false;
    }
    return true;
}

/* -- of degree 40 -- */

void rabin_init_of(struct rabin *rabin, uint64_t polynomial)
{
    rabin->polynomial = polynomial;
    for (uint64_t i = 0; i < 256; i++)
        rabin->over[i] = remainder_of(i << RABIN_DEGREE, polynomial);
}

/* One polynomial in 40 is irreducible, one in 20 of those with a constant term. With probability
 * 10^-11 none of 512 drawn is, and then 512 more are drawn. */
int rabin_init(struct rabin *rabin, const uint8_t key[SKETCH_KEY_BYTES])
{
    const uint64_t top = (uint64_t)1 << RABIN_DEGREE;
    uint64_t drawn[DRAWN];
    for (unsigned round = 0;; round++) {
        char purpose[] = "polynomial .";
        purpose[sizeof(purpose) - 2] = (char)('0' + round);
        int r = sketch_key_derive(key, purpose, drawn, sizeof(drawn));
        if (r < 0)
            return r;
        for (size_t i = 0; i < DRAWN; i++) {
            uint64_t polynomial = top | (drawn[i] & (top - 1)) | 1;
            if (!rabin_is_irreducible(polynomial))
                continue;
            rabin_init_of(rabin, polynomial);
            return 0;
        }
    }
}

uint64_t rabin_of_bytes(const struct rabin *rabin, const void *bytes, size_t size_bytes)
{
    const uint8_t *p = bytes;
    uint64_t fingerprint = 0;
    for (size_t i = 0; i < size_bytes; i++)
        fingerprint = rabin_append(rabin, fingerprint, p[i]);
    return fingerprint;
}

uint64_t rabin_multiply(const struct rabin *rabin, uint64_t a, uint64_t b)
{
    uint64_t product = 0;
    for (unsigned i = RABIN_BYTES; i-- > 0;) {
        product = rabin_append(rabin, product, 0);
        uint64_t byte = b >> 8 * i & 0xff, partial = 0; /* of degree below 48 */
        for (unsigned bit = 0; bit < 8; bit++)
            partial ^= byte >> bit & 1 ? a << bit : 0;
        product ^=
            (partial & (((uint64_t)1 << RABIN_DEGREE) - 1)) ^ rabin->over[partial >> RABIN_DEGREE];
    }
    return product;
}

uint64_t rabin_remainder(const struct rabin *rabin, uint64_t bits)
{
    uint64_t upper = bits >> RABIN_DEGREE;
    uint64_t remainder = bits & (((uint64_t)1 << RABIN_DEGREE) - 1);
    for (unsigned i = 0; i < 64 - RABIN_DEGREE; i += 8) {
        uint64_t over = rabin->over[upper >> i & 0xff];
        for (unsigned j = 0; j < i; j += 8)
            over = rabin_append(rabin, over, 0);
        remainder ^= over;
    }
    return remainder;
}

/* -- windows -- */

/* The fingerprints P_i of all bytes up to the last w + 1 ends of tokens. */
struct rabin_window {
    const struct rabin *rabin;
    unsigned w;
    uint64_t n_tokens, n_bytes, fingerprint;
    struct {
        uint64_t n_bytes, fingerprint;
    } ends[POLICY_W_MAX + 1]; /* the end of token i at (i + 1) % (w + 1); at 0 the beginning */
    uint64_t powers[];        /* t^(8 i), up to the most bytes of a window */
};

int rabin_window_new(const struct rabin *rabin, unsigned w, struct rabin_window **ret_window)
{
    size_t n_powers = (size_t)w * (CANON_TOKEN_MAX_BYTES + 1) + 1;
    struct rabin_window *window = malloc(sizeof(*window) + n_powers * sizeof(window->powers[0]));
    if (!window)
        return -ENOMEM;
    window->rabin = rabin;
    window->w = w;
    window->powers[0] = 1;
    for (size_t i = 1; i < n_powers; i++)
        window->powers[i] = rabin_append(rabin, window->powers[i - 1], 0);
    window->n_tokens = window->n_bytes = window->fingerprint = 0;
    window->ends[0].n_bytes = window->ends[0].fingerprint = 0;
    *ret_window = window;
    return 0;
}

void rabin_window_free(struct rabin_window *window)
{
    free(window);
}

bool rabin_window_add(struct rabin_window *window, const void *token, size_t size_bytes,
                      uint64_t *ret_fingerprint)
{
    const struct rabin *rabin = window->rabin;
    const uint8_t *p = token;
    uint64_t fingerprint = window->fingerprint;
    for (size_t i = 0; i < size_bytes; i++)
        fingerprint = rabin_append(rabin, fingerprint, p[i]);
    window->fingerprint = rabin_append(rabin, fingerprint, END_OF_TOKEN);
    window->n_bytes += size_bytes + 1;
    window->n_tokens++;
    size_t end = window->n_tokens % (window->w + 1);
    window->ends[end].n_bytes = window->n_bytes;
    window->ends[end].fingerprint = window->fingerprint;
    if (window->n_tokens < window->w)
        return false;
    size_t start = (window->n_tokens - window->w) % (window->w + 1);
    uint64_t power = window->powers[window->n_bytes - window->ends[start].n_bytes];
    *ret_fingerprint =
        window->fingerprint ^ rabin_multiply(rabin, window->ends[start].fingerprint, power);
    return true;
}

uint64_t rabin_window_all(const struct rabin_window *window)
{
    return window->fingerprint;
}
