/* In portable C a product with a fixed key is looked up: it is linear in its other factor, so that
 * the products of that factor's bytes, or half bytes, add up to it.
 *
 * Tokens: by bytes, 16 KiB of products a key for the first keys. Letters being few, most of the
 * tables is hardly ever touched.
 *
 * Windows: by half bytes, as token fingerprints are random: 2 KiB of products a key. Those with two
 * keys lie side by side, and are added up together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "engine/sketch/shingle_hash_kernel.h"

enum {
    TABLED_WORDS = 4, /* of a token; the products of further words are worked out */
    TAPS = 8,         /* 64 bytes of products */
    LANES = 2,        /* products added up by one vector operation: every compiler has these */
    CHUNK = 128,      /* windows at a time: the products of their tokens stay in the first cache */
};

typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));

struct tap_products {
    lanes of[TAPS / LANES][16][16]; /* keys, place and value of the half byte */
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

/* products[v * stride] = v * x^low * key for all v of so many bits */
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
        for (unsigned place = 0; place < 16; place++)
            fill((uint64_t *)tables->windows[j / TAPS].of[j % TAPS / LANES][place] + j % LANES,
                 LANES, 4, 4 * place, hash->window[hash->w - 1].key[j]);
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

/* 16 bytes of a token of which the first n count: and with those at 16 - n. */
static const uint8_t ones_zeros[32] = {[0 ... 15] = 0xff};

static inline uint64_t word_product(const uint64_t products[8][256], uint64_t x)
{
    return products[0][x & 255] ^ products[1][x >> 8 & 255] ^ products[2][x >> 16 & 255] ^
           products[3][x >> 24 & 255] ^ products[4][x >> 32 & 255] ^ products[5][x >> 40 & 255] ^
           products[6][x >> 48 & 255] ^ products[7][x >> 56];
}

/* The sum of a token's words from the third on. */
static uint64_t long_sum(const struct shingle_hash *hash, const uint8_t *p, size_t size_bytes)
{
    uint64_t sum = 0;
    for (size_t at = SHORT_TOKEN_BYTES; at < size_bytes; at += 8) {
        size_t left = size_bytes - at, word = at / 8;
        uint64_t x = load_word(p + at) & load_word(ones_zeros + 16 - (left < 8 ? left : 8));
        sum ^= word < TABLED_WORDS ? word_product(hash->tables->token[word], x)
                                   : gf64_multiply(x, hash->token_key[word]);
    }
    return sum;
}

static void tokens(const struct shingle_hash *hash, const struct token_block *block, uint64_t *ret)
{
    const struct shingle_hash_tables *tables = hash->tables;
    uint32_t begin = 0;
    for (size_t i = 0; i < block->n_tokens; begin = block->ends[i++]) {
        const uint8_t *p = block->bytes + begin;
        size_t size = block->ends[i] - begin;
        const uint8_t *mask =
            ones_zeros + 16 - (size < SHORT_TOKEN_BYTES ? size : SHORT_TOKEN_BYTES);
        uint64_t x = load_word(p) & load_word(mask), y = load_word(p + 8) & load_word(mask + 8);
        uint64_t sum = hash->token_offset[size] ^ word_product(tables->token[0], x) ^
                       word_product(tables->token[1], y);
        if (size > SHORT_TOKEN_BYTES)
            sum ^= long_sum(hash, p, size);
        ret[i] = shingle_mix(sum);
    }
}

/* The products of x with the first n_vectors * LANES keys of a group. */
static inline __attribute__((always_inline)) void tap_products(const struct tap_products *products,
                                                               size_t n_vectors, uint64_t x,
                                                               lanes ret[TAPS / LANES])
{
    /* Half bytes times the size of a vector: where the products lie. */
    _Static_assert(sizeof(lanes) == 16, "");
    uint64_t even = x << 4 & 0xf0f0f0f0f0f0f0f0, odd = x & 0xf0f0f0f0f0f0f0f0;
    const char *from = (const char *)products;
    lanes sum[TAPS / LANES] = {{0}};
#pragma GCC unroll 8
    for (unsigned place = 0; place < 8; place++) {
        const char *at_even = from + place * 512 + (even >> 8 * place & 255);
        const char *at_odd = from + place * 512 + 256 + (odd >> 8 * place & 255);
#pragma GCC unroll 4
        for (size_t i = 0; i < n_vectors; i++)
            sum[i] ^= *(const lanes *)(at_even + i * 4096) ^ *(const lanes *)(at_odd + i * 4096);
    }
#pragma GCC unroll 4
    for (size_t i = 0; i < n_vectors; i++)
        ret[i] = sum[i];
}

/* Add the products with n_taps keys to n_windows windows, of which the first has its first of these
 * tokens at p. */
static inline __attribute__((always_inline)) void add_taps(const struct tap_products *products,
                                                           size_t n_taps, const uint64_t *p,
                                                           size_t n_windows, uint64_t *ret)
{
    union {
        lanes vectors[CHUNK + TAPS][TAPS / LANES];
        uint64_t of[CHUNK + TAPS][TAPS];
    } product;
    for (size_t i = 0; i < n_windows + n_taps - 1; i++)
        tap_products(products, (n_taps + LANES - 1) / LANES, p[i], product.vectors[i]);
    for (size_t i = 0; i < n_windows; i++) {
        uint64_t sum = ret[i];
#pragma GCC unroll 8
        for (size_t tap = 0; tap < n_taps; tap++)
            sum ^= product.of[i + tap][tap];
        ret[i] = sum;
    }
}

static void add_group(const struct tap_products *products, size_t n_taps, const uint64_t *p,
                      size_t n_windows, uint64_t *ret)
{
    switch (n_taps) {
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
    const struct shingle_hash_tables *tables = hash->tables;
    for (size_t n; n_windows > 0; p += n, ret += n, n_windows -= n) {
        n = n_windows < CHUNK ? n_windows : CHUNK;
        for (size_t i = 0; i < n; i++)
            ret[i] = hash->window[hash->w - 1].offset;
        for (size_t j = 0; j < hash->w; j += TAPS) {
            size_t left = hash->w - j;
            add_group(&tables->windows[j / TAPS], left < TAPS ? left : TAPS, p + j, n, ret);
        }
    }
}

const struct shingle_hash_kernel shingle_hash_scalar = {tokens, windows};
