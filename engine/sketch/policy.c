/* Layout of a stored policy (big endian):
 *
 *   0   version     4   POLICY_VERSION
 *   4   name       32   NUL-padded, the last byte always NUL
 *   36  stop words  1   enum stop_list
 *   37  stemmer     1   a number of word_options.c
 *   38  tokens      1   enum token_choice
 *   39  tokeniser   1
 *   40  hash        4
 *   44  w           4
 *   48  s           4
 *   52  m           4
 *   56  v_max       4
 *   60  key        32
 *   92  check       4   lower half of XXH3-64 of the bytes before: a damaged policy would make
 *                       sketches that silently compare with no other
 *
 * The id of a policy is a hash of this form, so two policies with any field different, even the
 * name, have different ids, and sketches under them never compare.
 *
 * Why these presets. w: a shingle of 5 words is rarely shared by chance and still leaves short
 * documents enough shingles; Broder et al. 1997 took 10 for web pages. s = 128 gives a standard
 * deviation of at most 0.044 (at r = 0.5). m = 25 is Broder's. v_max bounds a sketch to 32 KiB:
 * past 4096 * m shingles the error of V is below 0.008 and more samples are of no use.
 *
 * Example: a document of 2,000 shingles has some 80 of them in V and 128 in MIN_s; one of 100,000
 * has some 4,000 in V; one of 200,000 would have 8,000, so its V is V_6, with one in 64: 3,125.
 */
#include "engine/sketch/policy.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include "base/bytes.h"

enum {
    POLICY_VERSION = 1,
    CHECK_AT = POLICY_ENCODED_BYTES - 4,
    W_AT = 44,
    KEY_AT = 60,
};

static const struct policy presets[] = {
    {"default", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, 5, 128, 25, 4096, {0}},
    {"broder1997", POLICY_TOKENISER_WORDS, POLICY_HASH_GF64, 10, 128, 25, 4096, {0}},
};

int policy_preset(const char *name, struct policy *ret_policy)
{
    for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++) {
        if (strcmp(name, presets[i].name) != 0)
            continue;
        struct policy policy = presets[i];
        if (getrandom(policy.key, sizeof(policy.key), 0) != sizeof(policy.key))
            return -EIO;
        *ret_policy = policy;
        OPENSSL_cleanse(&policy, sizeof(policy));
        return 0;
    }
    return -EINVAL;
}

int policy_validate(const struct policy *policy)
{
    if (!memchr(policy->name, '\0', sizeof(policy->name)))
        return -EINVAL;
    if (policy->tokeniser != POLICY_TOKENISER_WORDS || policy->hash != POLICY_HASH_GF64)
        return -EINVAL;
    if (word_options_check(&policy->words) == -EINVAL)
        return -EINVAL;
    if (policy->w < 1 || policy->w > POLICY_W_MAX)
        return -EINVAL;
    if (policy->s < 2 || policy->s > POLICY_S_MAX)
        return -EINVAL;
    if (policy->m < 1 || policy->m > POLICY_M_MAX)
        return -EINVAL;
    if (policy->v_max < policy->s || policy->v_max > POLICY_V_MAX)
        return -EINVAL;
    return 0;
}

uint64_t policy_id(const struct policy *policy)
{
    static const char domain[16] = "kinfs policy id"; /* apart from the keys of shingle_hash.c */
    uint8_t input[sizeof(domain) + POLICY_ENCODED_BYTES];
    uint8_t digest[SHA256_DIGEST_LENGTH];

    memcpy(input, domain, sizeof(domain));
    policy_encode(policy, input + sizeof(domain));
    SHA256(input, sizeof(input), digest);
    OPENSSL_cleanse(input, sizeof(input));
    return get_be64(digest);
}

void policy_derive(const struct policy *policy, const char *purpose, uint8_t out[POLICY_KEY_BYTES])
{
    _Static_assert(SHA256_DIGEST_LENGTH == POLICY_KEY_BYTES, "one digest");
    unsigned n_bytes;
    HMAC(EVP_sha256(), policy->key, sizeof(policy->key), (const unsigned char *)purpose,
         strlen(purpose), out, &n_bytes);
}

void policy_digest_key(const struct policy *policy, struct digest_key *ret_key)
{
    _Static_assert(sizeof(*ret_key) % POLICY_KEY_BYTES == 0 &&
                       sizeof(*ret_key) / POLICY_KEY_BYTES <= 26,
                   "a letter each");
    char purpose[] = "kinfs digest A";
    for (size_t at = 0; at < sizeof(*ret_key); at += POLICY_KEY_BYTES) {
        policy_derive(policy, purpose, (uint8_t *)ret_key + at);
        purpose[sizeof(purpose) - 2]++;
    }
}

void policy_encode(const struct policy *policy, uint8_t out[POLICY_ENCODED_BYTES])
{
    const uint32_t words = (uint32_t)policy->words.stop_list << 24 |
                           (uint32_t)policy->words.stemmer << 16 |
                           (uint32_t)policy->words.tokens << 8 | (policy->tokeniser & 0xff);
    const uint32_t fields[] = {words, policy->hash, policy->w, policy->s, policy->m, policy->v_max};

    memset(out, 0, POLICY_ENCODED_BYTES);
    put_be32(out, POLICY_VERSION);
    memcpy(out + 4, policy->name, strnlen(policy->name, POLICY_NAME_MAX));
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        put_be32(out + 36 + 4 * i, fields[i]);
    memcpy(out + KEY_AT, policy->key, POLICY_KEY_BYTES);
    put_be32(out + CHECK_AT, (uint32_t)XXH3_64bits(out, CHECK_AT));
}

int policy_decode(const void *data, size_t size_bytes, struct policy *ret_policy)
{
    const uint8_t *p = data;
    struct policy policy = {0};

    if (size_bytes != POLICY_ENCODED_BYTES || get_be32(p) != POLICY_VERSION)
        return -EUCLEAN;
    if (get_be32(p + CHECK_AT) != (uint32_t)XXH3_64bits(p, CHECK_AT))
        return -EUCLEAN;
    memcpy(policy.name, p + 4, sizeof(policy.name));
    policy.words = (struct word_options){.stop_list = p[36], .stemmer = p[37], .tokens = p[38]};
    policy.tokeniser = p[39];
    policy.hash = get_be32(p + 40);
    policy.w = get_be32(p + W_AT);
    policy.s = get_be32(p + W_AT + 4);
    policy.m = get_be32(p + W_AT + 8);
    policy.v_max = get_be32(p + W_AT + 12);
    memcpy(policy.key, p + KEY_AT, POLICY_KEY_BYTES);
    bool of_others = policy.tokeniser != POLICY_TOKENISER_WORDS || policy.hash != POLICY_HASH_GF64;
    policy.tokeniser = POLICY_TOKENISER_WORDS;
    policy.hash = POLICY_HASH_GF64;
    if (policy_validate(&policy) < 0)
        return -EUCLEAN;
    *ret_policy = policy;
    return of_others;
}
