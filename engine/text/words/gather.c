/* A buffer between the filters of markup and the words: pieces of text are copied into it, and the
 * words are fed when it is full. A long piece is fed by itself, without a copy, after the buffer.
 *
 * Example: "<b>H</b><sub>2</sub>O" gives the pieces "H", "2" and "O", which lie in the buffer as
 * "H2O" and are one word. Cost: one copy of short pieces, at most 16 KiB of delay.
 */
#include "engine/text/words/gather.h"

#include <string.h>

void gather_begin(struct gather *gather, struct words *words)
{
    gather->words = words;
    gather->n_bytes = 0;
}

void gather_flush(struct gather *gather)
{
    if (gather->n_bytes > 0)
        words_feed(gather->words, gather->bytes, gather->n_bytes);
    gather->n_bytes = 0;
}

void gather_put(struct gather *gather, const uint8_t *bytes, size_t size_bytes)
{
    if (size_bytes > GATHER_BYTES - gather->n_bytes || size_bytes >= GATHER_DIRECT_BYTES)
        gather_flush(gather);
    if (size_bytes >= GATHER_DIRECT_BYTES) {
        words_feed(gather->words, bytes, size_bytes);
        return;
    }
    memcpy(gather->bytes + gather->n_bytes, bytes, size_bytes);
    gather->n_bytes += size_bytes;
}

void gather_separate(struct gather *gather)
{
    gather_put(gather, (const uint8_t *)" ", 1);
}
