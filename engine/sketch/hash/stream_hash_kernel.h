/* The functions of a kernel. The xxhash.h that was included before this file decides by which
 * instructions they hash. */
#include <string.h>

#include "engine/sketch/hash/stream_hash.h"

static void *state_new(void)
{
    return XXH3_createState();
}

static void state_free(void *state)
{
    XXH3_freeState(state);
}

static void state_reset(void *state, const uint8_t secret[DIGEST_SECRET_BYTES])
{
    XXH3_128bits_reset_withSecret(state, secret, DIGEST_SECRET_BYTES);
}

static void state_update(void *state, const void *bytes, size_t size_bytes)
{
    XXH3_128bits_update(state, bytes, size_bytes);
}

static void state_digest(const void *state, uint8_t ret_digest[STREAM_HASH_BYTES])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    memcpy(ret_digest, canonical.digest, STREAM_HASH_BYTES);
}

#define STREAM_HASH_KERNEL                                                                         \
    {                                                                                              \
        state_new, state_free, state_reset, state_update, state_digest                             \
    }
