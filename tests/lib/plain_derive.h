/* The bytes that sketch_key.c describes, by another route: SHAKE256 over all of it at once.
 * Included by tests only. */
#ifndef KINFS_TESTS_LIB_PLAIN_DERIVE_H
#define KINFS_TESTS_LIB_PLAIN_DERIVE_H

#include <string.h>

#include <openssl/evp.h>

#include "engine/sketch/hash/sketch_key.h"

static inline void plain_derive(const uint8_t key[SKETCH_KEY_BYTES], const char *purpose, void *out,
                                size_t size_bytes)
{
    uint8_t input[16 + SKETCH_KEY_BYTES + 64];
    size_t n = strlen(purpose);
    assert_true(n <= 64);
    memcpy(input, "kinfs sketch key", 16);
    memcpy(input + 16, key, SKETCH_KEY_BYTES);
    memcpy(input + 16 + SKETCH_KEY_BYTES, purpose, n);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestInit_ex(context, EVP_shake256(), NULL), 1);
    assert_int_equal(EVP_DigestUpdate(context, input, 16 + SKETCH_KEY_BYTES + n), 1);
    assert_int_equal(EVP_DigestFinalXOF(context, out, size_bytes), 1);
    EVP_MD_CTX_free(context);
}

#endif
