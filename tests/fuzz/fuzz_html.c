/* Any bytes, as HTML and as XML: a state and a byte at a time, and whole tags at a stride with the
 * document cut in any way, two routes to the same tokens; and never a crash.
 *
 * Input: one byte (bit 0: XML; the rest: the size of the pieces, 0 all), then the document.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "engine/text/html/html.h"
#include "tests/fuzz/fuzz.h"

struct seen {
    uint64_t hash, n_tokens, links;
};

static void see_tokens(void *user, const struct token_block *block)
{
    struct seen *seen = user;
    uint32_t at = 0;
    for (size_t i = 0; i < block->n_tokens; at = block->ends[i++]) {
        FUZZ_CHECK(block->ends[i] > at);
        size_t size = block->ends[i] - at;
        seen->hash = XXH3_64bits_withSeed(block->bytes + at, size, seen->hash + size);
        seen->n_tokens++;
    }
}

static void see_link(void *user, const struct canon_link *link)
{
    struct seen *seen = user;
    uint64_t places[2] = {link->first, link->end};
    FUZZ_CHECK(link->first <= link->end && link->href_bytes <= CANON_HREF_MAX_BYTES);
    seen->links = XXH3_64bits_withSeed(link->href, link->href_bytes, seen->links);
    seen->links = XXH3_64bits_withSeed(places, sizeof(places), seen->links);
}

static struct seen tokenize(enum kernel kernel, bool xml, bool tags, const uint8_t *bytes,
                            size_t size, size_t piece_bytes)
{
    static struct words words;
    static struct html html;
    struct seen seen = {0};
    words = (struct words){0};
    struct canon_sink sink = {.tokens = see_tokens, .links = see_link, .user = &seen};
    words_init(&words, &sink);
    words_begin(&words);
    (xml ? html_begin_xml : html_begin)(&html, &words, kernel);
    if (tags)
        html_want_tags(&html);
    else if (!xml)
        html_want_links(&html, &sink, &seen.n_tokens);
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < piece_bytes ? size - at : piece_bytes;
        html_feed(&html, bytes + at, n);
    }
    html_finish(&html);
    words_finish(&words);
    return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    bool xml = data[0] & 1;
    size_t piece_bytes = data[0] >> 1 ? data[0] >> 1 : SIZE_MAX;
    data++;
    size--;
    struct seen slow = tokenize(KERNEL_SCALAR, xml, false, data, size, 1);
    for (enum kernel kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!kernel_is_there(kernel))
            continue;
        /* Small pieces end before there is a stride. */
        struct seen fast = tokenize(kernel, xml, false, data, size,
                                    piece_bytes == SIZE_MAX ? piece_bytes : 8 * piece_bytes);
        FUZZ_CHECK(fast.hash == slow.hash && fast.n_tokens == slow.n_tokens);
        FUZZ_CHECK(fast.links == slow.links);
    }
    struct seen tags = tokenize(KERNEL_SCALAR, xml, true, data, size, 1);
    FUZZ_CHECK(tags.hash == tokenize(kernel_in_use(), xml, true, data, size, piece_bytes).hash);
    return 0;
}
