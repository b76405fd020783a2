/* The portable kernel of shingle_hash.c looks up products with a fixed key: a product is linear in
 * its other factor, so that the products of that factor's bytes, or of parts of six bits, add up to
 * it.
 *
 * Example: 0x4142 * key = table[1][0x41] ^ table[0][0x42], where table[i][v] is the product of
 * v * x^(8i) and the key.
 *
 * Tokens are looked up by bytes, with 16 KiB of products for each of the first keys. Letters are
 * few, so most of these tables is hardly ever touched.
 *
 * Windows are looked up by six bits, as token fingerprints are random: the tables for eight keys,
 * 41 KiB, stay in the first cache. The products of one value with the eight keys lie side by side
 * in one cache line and are added up together: a token fingerprint is looked up once for all the
 * windows it is in.
 *
 * Cost: eight look-ups for a token of up to eight bytes, eleven for a shingle of up to eight
 * tokens. Left out: tables for features, of which few documents have any.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "engine/sketch/hash/shingle_hash_kernel.h"

enum {
    TABLED_WORDS = 4, /* of a token; the products of further words are worked out */
    TAPS = 8,         /* keys whose products lie side by side: 64 bytes */
    LANES = 2,        /* products added up by one vector operation: every compiler has these */
    PART_BITS = 6,
    PARTS = (64 + PART_BITS - 1) / PART_BITS,
    ROW_BYTES = TAPS * 8,
    PART_BYTES = ROW_BYTES << PART_BITS,
    PART_MASK = PART_BYTES - ROW_BYTES,
};

_Static_assert(ROW_BYTES == 1 << PART_BITS, "a value and its row are shifted alike");

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

/* The products of each value of each part with eight keys; the last part has four bits. */
struct tap_products {
    lanes of[((PARTS - 1) << PART_BITS) + (1 << (64 - (PARTS - 1) * PART_BITS))][TAPS / LANES];
};

struct shingle_hash_tables {
    uint64_t token[TABLED_WORDS][8][256]; /* word, place and value of the byte */
    struct tap_products windows[];        /* of w tokens: keys 0..TAPS-1, TAPS..2*TAPS-1, ... */
};

static size_t tables_bytes(const struct shingle_hash *hash)
{
    size_t n_groups = (hash->w + TAPS - 1) / TAPS;
    return sizeof(struct shingle_hash_tables) + n_groups * sizeof(struct tap_products);
}

/* Sets products[v * stride] to v * x^low * key for all v of so many bits. */
static void fill(uint64_t *products, size_t stride, unsigned bits, unsigned low, uint64_t key)
{
    uint64_t power = gf64_multiply((uint64_t)1 << low, key);
    for (unsigned i = 0; i < bits; i++, power = gf64_double(power))
        for (unsigned v = 0; v < 1u << i; v++)
            products[((1u << i) + v) * stride] = products[v * stride] ^ power;
}

int shingle_hash_tables_new(const struct shingle_hash *hash,
                            struct shingle_hash_tables **ret_tables)
{
    size_t size = (tables_bytes(hash) + 63) / 64 * 64;
    struct shingle_hash_tables *tables = aligned_alloc(64, size);
    if (!tables)
        return -ENOMEM;

    memset(tables, 0, size);
    for (unsigned i = 0; i < TABLED_WORDS; i++)
        for (unsigned place = 0; place < 8; place++)
            fill(tables->token[i][place], 1, 8, 8 * place, hash->token_key[i]);
    for (unsigned j = 0; j < hash->w; j++)
        for (unsigned low = 0; low < 64; low += PART_BITS) {
            unsigned bits = 64 - low < PART_BITS ? 64 - low : PART_BITS;
            lanes *first = tables->windows[j / TAPS].of[low / PART_BITS << PART_BITS];
            fill((uint64_t *)first + j % TAPS, TAPS, bits, low, hash->window[hash->w - 1].key[j]);
        }
    *ret_tables = tables;
    return 0;
}

void shingle_hash_tables_free(struct shingle_hash_tables *tables, const struct shingle_hash *hash)
{
    if (tables)
        OPENSSL_cleanse(tables, tables_bytes(hash));
    free(tables);
}

static inline uint64_t load_word(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, sizeof(x));
    return x;
}

/* The mask of the first min(n, 8) bytes of a word. */
static inline uint64_t mask_of(size_t n)
{
    static const uint8_t ones[CANON_TOKEN_MAX_BYTES + 8] = {[0 ... CANON_TOKEN_MAX_BYTES - 1] =
                                                                0xff};
    return load_word(ones + CANON_TOKEN_MAX_BYTES - n); /* a minimum would be a branch */
}

static inline uint64_t word_product(const uint64_t products[8][256], uint64_t x)
{
    return products[0][x & 255] ^ products[1][x >> 8 & 255] ^ products[2][x >> 16 & 255] ^
           products[3][x >> 24 & 255] ^ products[4][x >> 32 & 255] ^ products[5][x >> 40 & 255] ^
           products[6][x >> 48 & 255] ^ products[7][x >> 56];
}

/* The sum of a token's words from the second on. */
static uint64_t long_sum(const struct shingle_hash *hash, const uint8_t *p, size_t size_bytes)
{
    uint64_t sum = 0;
    for (size_t at = 8; at < size_bytes; at += 8) {
        size_t left = size_bytes - at, word = at / 8;
        uint64_t x = load_word(p + at) & mask_of(left);
        sum ^= word < TABLED_WORDS ? word_product(hash->tables->token[word], x)
                                   : gf64_multiply(x, hash->token_key[word]);
    }
    return sum;
}

/* All tokens are first hashed without a branch as if they had one word; those that have more are
 * then completed. */
static void tokens(const struct shingle_hash *hash, const struct token_block *block, uint64_t *ret)
{
    struct long_token {
        uint64_t sum; /* of length and first word */
        size_t number;
    } more[TOKEN_BLOCK_MAX];
    size_t n_more = 0;
    uint32_t begin = 0;
    for (size_t i = 0; i < block->n_tokens; begin = block->ends[i++]) {
        size_t size = block->ends[i] - begin;
        uint64_t x = load_word(block->bytes + begin) & mask_of(size);
        uint64_t sum = hash->token_offset[size] ^ word_product(hash->tables->token[0], x);
        ret[i] = shingle_mix(sum);
        more[n_more] = (struct long_token){sum, i};
        n_more += size > 8;
    }
    for (size_t j = 0; j < n_more; j++) {
        size_t i = more[j].number;
        uint32_t from = i ? block->ends[i - 1] : 0;
        ret[i] =
            shingle_mix(more[j].sum ^ long_sum(hash, block->bytes + from, block->ends[i] - from));
    }
}

/* The products with n_taps keys are added to n_windows windows; the token of the first window that
 * meets the first key is at p. sums[k] belongs to the window for which the token at hand is the
 * k-th: with the next token it has moved on to sums[k + 1], and at the last key it is complete.
 */
static inline __attribute__((always_inline)) void add_taps(const struct tap_products *products,
                                                           size_t n_taps, const uint64_t *p,
                                                           size_t n_windows, uint64_t *ret)
{
    const size_t n_vectors = (n_taps + LANES - 1) / LANES, last = n_taps - 1;
    const char *from = (const char *)products; /* gcc makes slower code of an array's index */
    lanes sums[TAPS / LANES] = {{0}};
    for (size_t i = 0; i < n_windows + last; i++) {
        uint64_t x = p[i];
#pragma GCC unroll 4
        for (size_t v = n_vectors - 1; v > 0; v--)
            sums[v] = __builtin_shufflevector(sums[v - 1], sums[v], 1, 2);
        sums[0] = __builtin_shufflevector((lanes){0}, sums[0], 1, 2);
#pragma GCC unroll 11
        for (unsigned part = 0; part < PARTS; part++) {
            uint64_t value = part ? x >> (part - 1) * PART_BITS : x << PART_BITS; /* times a row */
            const lanes *row = (const lanes *)(from + part * PART_BYTES + (value & PART_MASK));
#pragma GCC unroll 4
            for (size_t v = 0; v < n_vectors; v++)
                sums[v] ^= row[v];
        }
        if (i >= last)
            ret[i - last] ^= sums[last / LANES][last % LANES];
    }
}

static void add_group(const struct tap_products *products, size_t n_taps, const uint64_t *p,
                      size_t n_windows, uint64_t *ret)
{
    switch (n_taps) { /* a constant number is unrolled, and sums stay in registers */
    case 1: add_taps(products, 1, p, n_windows, ret); break;
    case 2: add_taps(products, 2, p, n_windows, ret); break;
    case 3: add_taps(products, 3, p, n_windows, ret); break;
    case 4: add_taps(products, 4, p, n_windows, ret); break;
    case 5: add_taps(products, 5, p, n_windows, ret); break;
    case 6: add_taps(products, 6, p, n_windows, ret); break;
    case 7: add_taps(products, 7, p, n_windows, ret); break;
    case 8: add_taps(products, 8, p, n_windows, ret); break;
    }
}

static void windows(const struct shingle_hash *hash, const uint64_t *p, size_t n_windows,
                    uint64_t *ret)
{
    for (size_t i = 0; i < n_windows; i++)
        ret[i] = hash->window[hash->w - 1].offset;
    for (size_t j = 0; j < hash->w; j += TAPS) {
        size_t left = hash->w - j;
        add_group(&hash->tables->windows[j / TAPS], left < TAPS ? left : TAPS, p + j, n_windows,
                  ret);
    }
}

/* Few documents have features, so tables of their products would only push others out of the
 * cache. */
static void features(const struct shingle_hash *hash, const struct feature *p, size_t n,
                     uint64_t *ret)
{
    for (size_t i = 0; i < n; i++)
        ret[i] = hash->feature_offset ^ gf64_multiply(p[i].low, hash->feature_key[0]) ^
                 gf64_multiply(p[i].high, hash->feature_key[1]);
}

const struct shingle_hash_kernel shingle_hash_scalar = {tokens, windows, features};
