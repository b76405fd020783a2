/* The secret under which bytes are digested: who does not know it cannot make other bytes of the
 * same digest. XXH3 alone is no such digest: under the secret that its library has for all, two
 * texts that differ in two letters are found at once.
 *
 * Longer inputs go through 64-bit lanes, to each of which 8 bytes add the product of their two
 * halves, each exclusive or'd with the secret. For an unknown secret, bytes can be chosen that
 * agree with probability 2^-32, but hardly more: two changed halves cancel each other when the two
 * halves by which they are multiplied agree. So that 100,000 files do not bring a pair of those,
 * from which more of the secret follows, bytes that others choose are digested under two
 * independent secrets, which gives 2^-64. */
#ifndef KINFS_ENGINE_TEXT_DIGEST_KEY_H
#define KINFS_ENGINE_TEXT_DIGEST_KEY_H

#include <stddef.h>
#include <stdint.h>

#include <xxhash.h>

enum { DIGEST_SECRETS = 2, DIGEST_SECRET_BYTES = 192 };

/* As good as random. */
struct digest_key {
    uint8_t secrets[DIGEST_SECRETS][DIGEST_SECRET_BYTES];
};

/* The digest of some bytes that are in memory. */
static inline XXH128_hash_t digest_key_apply(const struct digest_key *key, const void *bytes,
                                             size_t size_bytes)
{
    return (XXH128_hash_t){
        XXH3_64bits_withSecret(bytes, size_bytes, key->secrets[0], DIGEST_SECRET_BYTES),
        XXH3_64bits_withSecret(bytes, size_bytes, key->secrets[1], DIGEST_SECRET_BYTES)};
}

#endif
