/* XXH3-128 of a stream of bytes under a secret, by the kernel in use, as a distribution's library
 * is built for any processor and uses no vectors beyond those of all. The values are those of
 * XXH3_128bits_withSecret(). */
#ifndef KINFS_ENGINE_SKETCH_HASH_STREAM_HASH_H
#define KINFS_ENGINE_SKETCH_HASH_STREAM_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "base/kernel.h"
#include "engine/text/canon.h"

enum { STREAM_HASH_BYTES = 16 };

struct stream_hash_kernel {
    void *(*new)(void); /* NULL: no memory */
    void (*free)(void *state);
    void (*reset)(void *state, const uint8_t secret[DIGEST_SECRET_BYTES]); /* borrowed */
    void (*update)(void *state, const void *bytes, size_t size_bytes);
    void (*digest)(const void *state, uint8_t ret_digest[STREAM_HASH_BYTES]); /* big endian */
};

/* The functions of a kernel; NULL when this processor does not have it. */
const struct stream_hash_kernel *stream_hash_of(enum kernel kernel);

extern const struct stream_hash_kernel stream_hash_scalar, stream_hash_avx2, stream_hash_avx512;

#endif
