/* The policy of a store: everything a sketch depends on besides the document. Sketches of two
 * policies never compare.
 */
#ifndef KINFS_ENGINE_SKETCH_POLICY_H
#define KINFS_ENGINE_SKETCH_POLICY_H

#include <stddef.h>
#include <stdint.h>

#include "engine/text/digest_key.h"
#include "engine/text/words/word_options.h"

enum { POLICY_KEY_BYTES = 32, POLICY_NAME_MAX = 31, POLICY_ENCODED_BYTES = 96 };
enum { POLICY_W_MAX = 64, POLICY_S_MAX = 4096, POLICY_M_MAX = 1 << 20, POLICY_V_MAX = 65536 };

/* The version of canon.h. Version 1 knew UTF-8 alone, had other rules for HTML, and nothing for
 * binary files; 2 composed and joined nothing, told fewer charsets apart, and had
 * other tables; 3 took the cells of tables as bytes; 4 told fewer parts of LaTeX
 * documents, joined no word over a blank behind its hyphen or an empty line, and had fewer
 * ragged tables. */
enum policy_tokeniser { POLICY_TOKENISER_WORDS = 5 };
/* The version of shingle_hash.h and of the fingerprints of document_sketch.h. Version 1 was
 * multilinear modulo 2^128; 2 had fingerprints and features without a secret. */
enum policy_hash { POLICY_HASH_GF64 = 3 };

struct policy {
    char name[POLICY_NAME_MAX + 1]; /* of the preset, for people */
    uint32_t tokeniser; /* enum policy_tokeniser, 8 bits; its version is part of the value */
    uint32_t hash;      /* enum policy_hash */
    uint32_t w;         /* tokens in a shingle, 1 to POLICY_W_MAX */
    uint32_t s;         /* values of MIN_s, 2 to 4096 */
    uint32_t m;         /* V = MOD_m keeps one shingle in m, 1 to 2^20 */
    uint32_t v_max;     /* most values of V before V_i takes its place, s to 65536 */
    uint8_t key[POLICY_KEY_BYTES]; /* secret: with it one can choose which shingles are sampled */
    struct word_options words;     /* how words are filtered; {0}: not at all */
};

/* Fill in a preset by name: "default" (w=5, s=128, m=25) or "broder1997" (w=10). The key is fresh
 * from the system's random source. Returns 0, -EINVAL for a name that is none, -EIO.
 */
int policy_preset(const char *name, struct policy *ret_policy);

/* Returns 0 or -EINVAL when a field is out of its range. */
int policy_validate(const struct policy *policy);

/* A number that is equal for equal policies and differs for different ones (64 bits of SHA-256 over
 * the encoded form). Reveals nothing of the key.
 */
uint64_t policy_id(const struct policy *policy);

/* Secret bytes for another use of the policy's key. They tell nothing of the key.
 *
 * purpose  which use: a string that no other has
 */
void policy_derive(const struct policy *policy, const char *purpose, uint8_t out[POLICY_KEY_BYTES]);

/* The secret of the digests of features, texts and contents. */
void policy_digest_key(const struct policy *policy, struct digest_key *ret_key);

/* The stored form. Decoding returns 0, -EUCLEAN, or 1 for a policy of another version of kinfs,
 * with tokens or fingerprints that this one does not make: *ret_policy is then the same with this
 * one's, under which the documents may be sketched anew. */
void policy_encode(const struct policy *policy, uint8_t out[POLICY_ENCODED_BYTES]);
int policy_decode(const void *data, size_t size_bytes, struct policy *ret_policy);

#endif
