/* Keyed 64-bit fingerprints of tokens and of shingles, with a proof of pairwise independence.
 *
 * Token and shingle are both hashed by the multilinear family over the field of 2^64 elements,
 *   h(x_1..x_n) = a_0 + sum a_i * x_i,   a_i random,
 * which is strongly universal (proof and layout in shingle_hash.c). Any two different tokens
 * collide with probability 2^-64, whatever their lengths. All functions but new and free only read:
 * any thread, no lock, no allocation. The results do not depend on the kernel (base/kernel.h).
 */
#ifndef KINFS_ENGINE_SKETCH_HASH_SHINGLE_HASH_H
#define KINFS_ENGINE_SKETCH_HASH_SHINGLE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "engine/sketch/policy.h"
#include "engine/text/canon.h"

struct shingle_hash; /* the expanded keys of one policy; immutable, shared by any threads */

/* Expand a policy's key. Returns 0, -EINVAL, -ENOMEM; ret_hash gives. */
int shingle_hash_new(const struct policy *policy, struct shingle_hash **ret_hash);
void shingle_hash_free(struct shingle_hash *hash); /* wipes the keys */
DEFINE_CLEANUP(struct shingle_hash *, shingle_hash_free);

/* ret[i] = the fingerprint of token i of the block; none is longer than CANON_TOKEN_MAX_BYTES. */
void shingle_hash_tokens(const struct shingle_hash *hash, const struct token_block *block,
                         uint64_t *ret);

/* The fingerprint of n_tokens consecutive token fingerprints, 1 <= n_tokens <= w. Only a document
 * shorter than w has a shingle of fewer; each n_tokens has a function of its own.
 */
uint64_t shingle_hash_window(const struct shingle_hash *hash, const uint64_t *tokens,
                             size_t n_tokens);

/* ret[i] = the fingerprint of tokens[i .. i+w), for 0 <= i < n_windows. */
void shingle_hash_windows(const struct shingle_hash *hash, const uint64_t *tokens, size_t n_windows,
                          uint64_t *ret);

/* ret[i] = the fingerprint of features[i], by a function of its own: a feature resembles no
 * shingle.
 */
void shingle_hash_features(const struct shingle_hash *hash, const struct feature *features,
                           size_t n_features, uint64_t *ret);

#endif
