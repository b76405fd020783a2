/* Content-defined chunking (Muthitacharoen, Chen, Mazieres 2001, "A low-bandwidth network file
 * system", section 3.1) by a gear hash, with the normalised sizes of FastCDC (Xia et al. 2016): a
 * chunk ends behind the first byte at which the hash of the 64 bytes before has some bits zero,
 * more bits before the usual size and fewer behind it; none is shorter than CHUNK_MIN_BYTES or
 * longer than CHUNK_MAX_BYTES.
 *
 *   hash = (hash << 1) + gear[byte]        a byte's share is shifted out after 64 more
 *
 * The upper bits decide, as they depend on all 64 bytes. With 10 bits before and 8 behind 512
 * bytes, chunks have 623 bytes on average (measured on random bytes; 628 on 100 MB of shared
 * libraries). Small chunks follow small edits; a chunk costs one fingerprint, as a window of words
 * does, of which text has one in seven bytes.
 *
 * Example: a byte is inserted into a file of 10 KB, which has some 16 chunks. The chunk around it
 * changes; its end, or that of the next one, is where it was, as it depends on the 64 bytes before
 * it only, and all further chunks are the same.
 *
 * Cost: 1.1 GB/s measured on both, a twentieth of it for the digests: each addition waits for the
 * one before. Left out: the Rabin fingerprints of the paper, which take two look-ups a byte.
 */
#include "engine/text/features/chunks.h"

#include <pthread.h>
#include <string.h>

#include "base/mix.h"

#define MASK_BEFORE (UINT64_MAX << (64 - 10))
#define MASK_BEHIND (UINT64_MAX << (64 - 8))

enum { WINDOW = 64, SKIP = CHUNK_MIN_BYTES - WINDOW };

static uint64_t gear[256];
static pthread_once_t gear_once = PTHREAD_ONCE_INIT;

/* SplitMix64 (Steele, Lea, Flood 2014) from 1: any fixed random numbers serve, but never others, or
 * chunks would not be those of before. */
static void fill_gear(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 256; i++)
        gear[i] = mix64_next(&state);
}

void chunks_begin(struct chunks *chunks, struct feature_list *features)
{
    pthread_once(&gear_once, fill_gear);
    chunks->features = features;
    chunks->hash = 0;
    chunks->n_bytes = 0;
}

/* The number of these bytes that belong to the open chunk; *ret_ends: the chunk ends with the last
 * of them. */
static size_t chunk_bytes(struct chunks *chunks, const uint8_t *bytes, size_t size_bytes,
                          bool *ret_ends)
{
    size_t at = 0, n_before = chunks->n_bytes;
    uint64_t hash = chunks->hash;
    *ret_ends = false;
    if (size_bytes > CHUNK_MAX_BYTES - n_before)
        size_bytes = CHUNK_MAX_BYTES - n_before;

    if (n_before < SKIP)
        at = SKIP - n_before < size_bytes ? SKIP - n_before : size_bytes;
    for (; at < size_bytes && n_before + at < CHUNK_MIN_BYTES - 1; at++)
        hash = (hash << 1) + gear[bytes[at]];
    for (int behind = 0; behind < 2 && !*ret_ends; behind++) {
        uint64_t mask = behind ? MASK_BEHIND : MASK_BEFORE;
        size_t end = behind ? CHUNK_MAX_BYTES : CHUNK_USUAL_BYTES;
        end = end > n_before ? end - n_before : 0;
        if (end > size_bytes)
            end = size_bytes;
        while (at < end && !*ret_ends) {
            hash = (hash << 1) + gear[bytes[at++]];
            *ret_ends = (hash & mask) == 0;
        }
    }
    if (n_before + at == CHUNK_MAX_BYTES)
        *ret_ends = true;
    chunks->hash = hash;
    return at;
}

static void take(struct chunks *chunks, const uint8_t *bytes, size_t size_bytes)
{
    feature_list_add(chunks->features, feature_list_digest(chunks->features, bytes, size_bytes));
    chunks->hash = 0;
    chunks->n_bytes = 0;
}

void chunks_feed(struct chunks *chunks, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        bool ends;
        size_t n = chunk_bytes(chunks, bytes, size_bytes, &ends);
        if (ends && chunks->n_bytes == 0) {
            take(chunks, bytes, n); /* without a copy */
        } else {
            memcpy(chunks->open + chunks->n_bytes, bytes, n);
            chunks->n_bytes += (uint32_t)n;
            if (ends)
                take(chunks, chunks->open, chunks->n_bytes);
        }
        bytes += n;
        size_bytes -= n;
    }
}

void chunks_finish(struct chunks *chunks)
{
    if (chunks->n_bytes > 0)
        take(chunks, chunks->open, chunks->n_bytes);
}
