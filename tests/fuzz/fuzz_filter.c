/* Any bytes, as a document that is known to be of some type, cut in any way: the same
 * tokens or features, and never a crash.
 *
 * Input: one byte, which of them; one, the size of the pieces less one; then the document.
 */
#include <stdint.h>

#include <xxhash.h>

#include "engine/text/canon.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    uint64_t hash, n;
};

static void see_tokens(void *user, const struct token_block *block)
{
    struct seen *seen = user;
    uint32_t at = 0;
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        size_t size = block->ends[i] - at;
        FUZZ_CHECK(block->ends[i] > at && size <= CANON_TOKEN_MAX_BYTES);
        seen->hash = XXH3_64bits_withSeed(block->bytes + at, size, seen->hash + size);
        seen->n++;
    }
}

static void see_features(void *user, const struct feature *features, size_t n)
{
    struct seen *seen = user;
    seen->n += n;
    for (size_t i = 0; i < n; i++)
        seen->hash = XXH3_64bits_withSeed(&features[i], sizeof(features[i]), seen->hash);
}

static struct seen canonicalise(enum text_type type, const uint8_t *bytes, size_t size,
                                size_t piece_bytes)
{
    static const struct digest_key key;
    struct seen seen = {0};
    struct text_form form;
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    FUZZ_CHECK(canon_new(&(struct canon_sink){.tokens = see_tokens,
                                              .features = see_features,
                                              .user = &seen,
                                              .order = see_features,
                                              .key = &key},
                         &canon) == 0);
    canon_begin_as(canon, type);
    for (size_t at = 0; at < size; at += piece_bytes)
        canon_feed(canon, bytes + at, size - at < piece_bytes ? size - at : piece_bytes);
    canon_finish(canon, &form);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum text_type types[] = {TEXT_ROFF,      TEXT_MAIL, TEXT_MARKDOWN, TEXT_TABLE,
                                           TEXT_EXTRACTED, TEXT_JSON, TEXT_NOTEBOOK, TEXT_RTF,
                                           TEXT_LATEX,     TEXT_WIKI};
    if (size < 2)
        return 0;
    enum text_type type = types[data[0] % (sizeof(types) / sizeof(types[0]))];
    size_t piece_bytes = data[1] + 1u;
    struct seen whole = canonicalise(type, data + 2, size - 2, size);
    struct seen pieces = canonicalise(type, data + 2, size - 2, piece_bytes);
    FUZZ_CHECK(whole.hash == pieces.hash && whole.n == pieces.n);
    return 0;
}
