/* Any bytes to chunks whose bounds the bytes themselves decide: an insertion or a removal changes
 * the chunks around it, and no others. A document's features are the digests of its chunks. Private
 * to engine/text.
 */
#ifndef KINFS_ENGINE_TEXT_FEATURES_CHUNKS_H
#define KINFS_ENGINE_TEXT_FEATURES_CHUNKS_H

#include "engine/text/features/feature_list.h"

enum { CHUNK_MIN_BYTES = 128, CHUNK_USUAL_BYTES = 512, CHUNK_MAX_BYTES = 4096 };

struct chunks {
    struct feature_list *features;
    uint64_t hash;    /* of the last 64 bytes of the open chunk */
    uint32_t n_bytes; /* of the open chunk */
    uint8_t open[CHUNK_MAX_BYTES];
};

void chunks_begin(struct chunks *chunks, struct feature_list *features);
void chunks_feed(struct chunks *chunks, const uint8_t *bytes, size_t size_bytes);
void chunks_finish(struct chunks *chunks);

#endif
