/* The kernels of shingle_hash.c share the keys and the parts of the formula that are here. */
#ifndef KINFS_ENGINE_SKETCH_HASH_SHINGLE_HASH_KERNEL_H
#define KINFS_ENGINE_SKETCH_HASH_SHINGLE_HASH_KERNEL_H

#include "base/kernel.h"
#include "engine/sketch/hash/gf64.h"
#include "engine/sketch/hash/shingle_hash.h"

enum {
    TOKEN_WORDS = CANON_TOKEN_MAX_BYTES / 8,
    SHORT_TOKEN_BYTES = 16, /* most tokens are no longer: these are hashed without a branch */
};

struct window_keys {
    uint64_t offset; /* a_0 */
    uint64_t key[POLICY_W_MAX];
};

struct shingle_hash_kernel {
    void (*tokens)(const struct shingle_hash *hash, const struct token_block *block, uint64_t *ret);
    void (*windows)(const struct shingle_hash *hash, const uint64_t *tokens, size_t n_windows,
                    uint64_t *ret);
    void (*features)(const struct shingle_hash *hash, const struct feature *features, size_t n,
                     uint64_t *ret);
};

struct shingle_hash {
    const struct shingle_hash_kernel *kernel;
    struct shingle_hash_tables *tables; /* the scalar kernel has them, others NULL */
    unsigned w;
    uint64_t token_offset[CANON_TOKEN_MAX_BYTES + 1]; /* a_0 + a_1 * length */
    uint64_t token_key[TOKEN_WORDS];                  /* a_2 .. */
    uint64_t feature_offset, feature_key[2];
    struct window_keys window[]; /* of 1..w tokens */
};

/* shingle_hash_new() with a given kernel; -ENOTSUP when this processor does not have it. */
int shingle_hash_new_for(const struct policy *policy, enum kernel kernel,
                         struct shingle_hash **ret_hash);

/* The bijection at the end of a token's fingerprint: each half in turn is changed by a function of
 * the other one. */
#define SHINGLE_MIX_FIRST 0x9e3779b1u
#define SHINGLE_MIX_SECOND 0x85ebca77u

static inline uint64_t shingle_mix(uint64_t x)
{
    x ^= (x & UINT32_MAX) * SHINGLE_MIX_FIRST >> 32 << 32;
    return x ^ (x >> 32) * SHINGLE_MIX_SECOND >> 32;
}

extern const struct shingle_hash_kernel shingle_hash_scalar, shingle_hash_avx2, shingle_hash_avx512,
    shingle_hash_neon;

/* The products that the scalar kernel looks up. Returns 0 or -ENOMEM. The keys of hash must all be
 * there before. */
int shingle_hash_tables_new(const struct shingle_hash *hash,
                            struct shingle_hash_tables **ret_tables);
void shingle_hash_tables_free(struct shingle_hash_tables *tables,
                              const struct shingle_hash *hash); /* wipes them */

#endif
