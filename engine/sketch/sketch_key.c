/* SHAKE256 over domain, key and purpose: of any length, and as good as random to who does not have
 * the key. */
#include "engine/sketch/sketch_key.h"

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
