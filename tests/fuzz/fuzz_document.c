/* Any bytes, as a document whose form shows from them (packed, in some charset, of some type), cut
 * in any way: the same tokens, and never a crash.
 *
 * Input: one byte, the size of the pieces less one; then the document.
 */
#include <stdint.h>

#include <xxhash.h>

#include "engine/text/canon.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    uint64_t hash, n;
    struct text_form form;
};

static void see_tokens(void *user, const struct token_block *block)
{
    struct seen *seen = user;
    uint32_t at = 0;
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        size_t size = block->ends[i] - at;
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

static struct seen canonicalise(const uint8_t *bytes, size_t size, size_t piece_bytes)
{
    static const struct digest_key key;
    struct seen seen = {0};
    _cleanup_(canon_free_p) struct canon *canon = NULL;
    FUZZ_CHECK(canon_new(
                   &(struct canon_sink){
                       .tokens = see_tokens, .features = see_features, .user = &seen, .key = &key},
                   &canon) == 0);
    canon_begin(canon);
    for (size_t at = 0; at < size; at += piece_bytes)
        canon_feed(canon, bytes + at, size - at < piece_bytes ? size - at : piece_bytes);
    canon_finish(canon, &seen.form);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t piece_bytes = data[0] + 1u;
    struct seen whole = canonicalise(data + 1, size - 1, size);
    struct seen pieces = canonicalise(data + 1, size - 1, piece_bytes);
    FUZZ_CHECK(whole.hash == pieces.hash && whole.n == pieces.n);
    FUZZ_CHECK(whole.form.type == pieces.form.type && whole.form.charset == pieces.form.charset &&
               whole.form.codec == pieces.form.codec && whole.form.cut == pieces.form.cut &&
               whole.form.damaged == pieces.form.damaged);
    return 0;
}
