/* The derivation is SHAKE256 over domain, key and purpose. Its output has any length and cannot be
 * told from random bytes without the key; another purpose gives unrelated bytes. HMAC-SHA-256, as
 * in policy_derive(), would have to be repeated for the tables of tabulation.h, which take 16 KiB.
 */
#include "engine/sketch/hash/sketch_key.h"

#include <errno.h>
#include <string.h>

#include <openssl/evp.h>

int sketch_key_derive(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, void *out,
                      size_t size_bytes)
{
    static const char domain[16] = "kinfs sketch key";
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = context && EVP_DigestInit_ex(context, EVP_shake256(), NULL) == 1 &&
             EVP_DigestUpdate(context, domain, sizeof(domain)) == 1 &&
             EVP_DigestUpdate(context, key, SKETCH_KEY_BYTES) == 1 &&
             EVP_DigestUpdate(context, purpose, strlen(purpose)) == 1 &&
             EVP_DigestFinalXOF(context, out, size_bytes) == 1;
    EVP_MD_CTX_free(context);
    return ok ? 0 : -ENOMEM;
}
