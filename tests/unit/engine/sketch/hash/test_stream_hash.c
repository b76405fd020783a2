#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <xxhash.h>

#include "engine/sketch/hash/stream_hash.h"

/* Streams of any size, in pieces of any size. */
static void test_stream_hash__every_kernel_hashes_streams_as_xxh3_does(void **state)
{
    (void)state;
    enum { MOST = 5000 };
    static uint8_t bytes[MOST], secret[DIGEST_SECRET_BYTES];
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i * i * 7 >> 3);
    for (size_t i = 0; i < DIGEST_SECRET_BYTES; i++)
        secret[i] = (uint8_t)(i * i * 5 >> 2);
    for (int kernel = 0; kernel < KERNEL_N; kernel++) {
        const struct stream_hash_kernel *stream_hash = stream_hash_of((enum kernel)kernel);
        assert_int_equal(stream_hash != NULL, kernel_is_there((enum kernel)kernel));
        if (!stream_hash)
            continue;
        void *hash = stream_hash->new ();
        assert_non_null(hash);
        for (size_t size = 0; size <= MOST; size += 1 + size / 7) {
            uint8_t digest[STREAM_HASH_BYTES];
            stream_hash->reset(hash, secret);
            for (size_t at = 0, n; at < size; at += n) {
                n = 1 + (at * 31 + size) % 700;
                if (n > size - at)
                    n = size - at;
                stream_hash->update(hash, bytes + at, n);
            }
            stream_hash->digest(hash, digest);
            XXH128_canonical_t expected;
            XXH128_canonicalFromHash(
                &expected, XXH3_128bits_withSecret(bytes, size, secret, DIGEST_SECRET_BYTES));
            assert_memory_equal(digest, expected.digest, sizeof(digest));
        }
        stream_hash->free(hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_hash__every_kernel_hashes_streams_as_xxh3_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
