/* Any bytes, as text, as HTML and as XML, cut in any way: the same valid tokens, and never a crash.
 *
 * Input: one byte (bit 0: HTML; bit 7: XML; the rest: the size of the pieces), then the document.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>
#include <xxhash.h>

#include "engine/text/canon.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    uint64_t hash, n_tokens;
};

static void see_tokens(void *user, const struct token_block *block)
{
    struct seen *seen = user;
    uint32_t at = 0;
    FUZZ_CHECK(block->n_tokens >= 1 && block->n_tokens <= TOKEN_BLOCK_MAX);
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        FUZZ_CHECK(block->ends[i] > at && block->ends[i] - at <= CANON_TOKEN_MAX_BYTES);
        size_t size = block->ends[i] - at;
        seen->hash = XXH3_64bits_withSeed(block->bytes + at, size, seen->hash + size);
        seen->n_tokens++;
        for (size_t j = 0; j < size;) {
            utf8proc_int32_t code;
            utf8proc_ssize_t n =
                utf8proc_iterate(block->bytes + at + j, (utf8proc_ssize_t)(size - j), &code);
            FUZZ_CHECK(n > 0);
            j += (size_t)n;
        }
    }
}

static struct seen canonicalise(enum text_type type, const uint8_t *bytes, size_t size,
                                size_t piece_bytes)
{
    struct seen seen = {0};
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    FUZZ_CHECK(canon_new(&(struct canon_sink){see_tokens, NULL, &seen}, &canon) == 0);
    canon_begin_as(canon, type);
    for (size_t at = 0; at < size; at += piece_bytes)
        canon_feed(canon, bytes + at, size - at < piece_bytes ? size - at : piece_bytes);
    struct text_form form;
    canon_finish(canon, &form);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    enum text_type type = data[0] & 0x80 ? TEXT_XML : data[0] & 1 ? TEXT_HTML : TEXT_PLAIN;
    size_t piece_bytes = (data[0] >> 1 & 0x3f) + 1u;
    data++;
    size--;

    (void)text_type_sniff(data, size);
    struct seen whole = canonicalise(type, data, size, size + 1);
    struct seen pieces = canonicalise(type, data, size, piece_bytes);
    FUZZ_CHECK(whole.hash == pieces.hash && whole.n_tokens == pieces.n_tokens);
    return 0;
}
