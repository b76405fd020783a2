/* HTML to tokens in every way there is: each kernel, each place in a block, each way to cut. */
#ifndef KINFS_TESTS_UNIT_ENGINE_TEXT_HTML_HTML_WAYS_H
#define KINFS_TESTS_UNIT_ENGINE_TEXT_HTML_HTML_WAYS_H

#include "engine/text/html/html.h"
#include "tests/unit/engine/text/canonical.h"

/* With `lead` spaces before it and `trail` behind it, which are no part of any token. piece_bytes 0
 * is any size. */
static inline char *html_tokens(enum kernel kernel, const void *bytes, size_t size, size_t lead,
                                size_t trail, size_t piece_bytes, unsigned seed)
{
    struct canonical result = {0};
    struct words *words = calloc(1, sizeof(*words));
    struct html *html = malloc(sizeof(*html));
    size_t n_all = lead + size + trail;
    uint8_t *all = malloc(n_all + 1);
    result.file = open_memstream(&result.text, &result.size);
    if (!words || !html || !all || !result.file)
        abort();
    memset(all, ' ', n_all);
    memcpy(all + lead, bytes, size);
    words_init(words, &(struct canon_sink){.tokens = canonical_take, .user = &result});
    words_begin(words);
    html_begin(html, words, kernel);
    for (size_t at = 0, n; at < n_all; at += n) {
        n = piece_bytes ? piece_bytes : (size_t)rand_r(&seed) % 700;
        n = n < n_all - at ? n : n_all - at;
        uint8_t *piece = malloc(n ? n : 1);
        memcpy(piece, all + at, n);
        html_feed(html, piece, n);
        free(piece);
    }
    html_finish(html);
    words_finish(words);
    fclose(result.file);
    free(all);
    free(html);
    free(words);
    return result.text;
}

/* Whether these are the tokens, whatever the way; if not, says so. */
static inline bool html_is(const void *bytes, size_t size, const char *tokens)
{
    if (!canonical_is(TEXT_HTML, bytes, size, tokens))
        return false;
    for (enum kernel kernel = 0; kernel < KERNEL_N; kernel++) {
        if (!kernel_is_there(kernel))
            continue;
        for (size_t lead = 0; lead < 66; lead++) {
            char *found =
                html_tokens(kernel, bytes, size, lead, 300, lead % 2 ? 1 << 20 : 0, (unsigned)lead);
            bool same = strcmp(found, tokens) == 0;
            if (!same)
                fprintf(stderr, "%.*s\n  by %s behind %zu bytes: '%s', not '%s'\n", (int)size,
                        (const char *)bytes, kernel_name(kernel), lead, found, tokens);
            free(found);
            if (!same)
                return false;
        }
    }
    return true;
}

#endif
