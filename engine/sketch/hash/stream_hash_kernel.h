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

static void state_reset(void *state)
{
    XXH3_128bits_reset(state);
}

static void state_update(void *state, const void *bytes, size_t size_bytes)
{
    XXH3_128bits_update(state, bytes, size_bytes);
}

static void state_update_lengths(void *state, const uint32_t *ends, size_t n)
{
    enum { AT_ONCE = 32, ROOM = 1024 }; /* constant numbers, which compilers make vectors of */
    uint8_t lengths[ROOM];
    for (size_t done = 0; done < n;) {
        size_t end = n - done < ROOM ? n : done + ROOM, at = done + 1;
        lengths[0] = (uint8_t)(ends[done] - (done ? ends[done - 1] : 0) - 1);
        for (; at + AT_ONCE <= end; at += AT_ONCE)
            for (size_t i = at; i < at + AT_ONCE; i++)
                lengths[i - done] = (uint8_t)(ends[i] - ends[i - 1] - 1);
        for (; at < end; at++)
            lengths[at - done] = (uint8_t)(ends[at] - ends[at - 1] - 1);
        XXH3_128bits_update(state, lengths, end - done);
        done = end;
    }
}

static void state_digest(const void *state, uint8_t ret_digest[STREAM_HASH_BYTES])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    memcpy(ret_digest, canonical.digest, STREAM_HASH_BYTES);
}

#define STREAM_HASH_KERNEL                                                                         \
    {                                                                                              \
        state_new, state_free, state_reset, state_update, state_update_lengths, state_digest       \
    }
