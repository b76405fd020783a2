/* Fingerprints of byte strings by the remainder of a polynomial over GF(2) (Rabin 1981,
 * "Fingerprinting by random polynomials"): a string is the polynomial whose coefficients are its
 * bits, its fingerprint the remainder by an irreducible polynomial of degree 40, drawn at random.
 * Two different strings of n bits collide with probability below n / 2^40 over that draw. It can be
 * rolled, and it is linear: f(x) ^ f(y) = f(x ^ y). Its least values are therefore no random choice
 * of shingles; a permutation behind it makes them one (permutation40.h).
 *
 * In all numbers here bit i is the coefficient of t^i.
 */
#ifndef KINFS_ENGINE_SKETCH_HASH_RABIN_H
#define KINFS_ENGINE_SKETCH_HASH_RABIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/sketch/hash/sketch_key.h"

enum { RABIN_DEGREE = 40, RABIN_BYTES = RABIN_DEGREE / 8 };

/* True when a polynomial of degree 1 to 63 has no divisor but itself and 1 (Rabin's test). */
bool rabin_is_irreducible(uint64_t polynomial);

struct rabin {
    uint64_t polynomial;
    uint64_t over[256]; /* over[i] = i * t^40 mod polynomial */
};

/* Draw an irreducible polynomial of degree 40. Returns 0 or -ENOMEM. */
int rabin_init(struct rabin *rabin, const uint8_t key[SKETCH_KEY_BYTES]);
/* The same with a given polynomial, which is irreducible and of degree 40. */
void rabin_init_of(struct rabin *rabin, uint64_t polynomial);

/* The fingerprint of a string and one more byte from that of the string. */
static inline uint64_t rabin_append(const struct rabin *rabin, uint64_t fingerprint, uint8_t byte)
{
    uint64_t shifted = fingerprint << 8 | byte;
    return (shifted & (((uint64_t)1 << RABIN_DEGREE) - 1)) ^
           rabin->over[shifted >> RABIN_DEGREE & 0xff];
}

uint64_t rabin_of_bytes(const struct rabin *rabin, const void *bytes, size_t size_bytes);

/* a and b are remainders. */
uint64_t rabin_multiply(const struct rabin *rabin, uint64_t a, uint64_t b);

/* The remainder of 64 bits. The remainder of a fingerprint is itself. */
uint64_t rabin_remainder(const struct rabin *rabin, uint64_t bits);

/* -- windows of tokens -- */

/* The fingerprints of all runs of w tokens, each token's bytes followed by a byte that UTF-8 does
 * not have, from one step to the next. */
struct rabin_window;

/* 1 <= w <= 64; the polynomial is borrowed. Returns 0, -ENOMEM; ret_window gives. */
int rabin_window_new(const struct rabin *rabin, unsigned w, struct rabin_window **ret_window);
void rabin_window_free(struct rabin_window *window);
DEFINE_CLEANUP(struct rabin_window *, rabin_window_free);

/* The next token, of at most CANON_TOKEN_MAX_BYTES. Returns true, with the fingerprint of the last
 * w, once there are as many. */
bool rabin_window_add(struct rabin_window *window, const void *token, size_t size_bytes,
                      uint64_t *ret_fingerprint);
/* The fingerprint of all tokens so far, for a document of fewer than w. */
uint64_t rabin_window_all(const struct rabin_window *window);

#endif
