/* Words are counted, and go to the windows of links (link_windows.h), which give those of each link
 * when all of its tokens have come.
 *
 * Cost: for each word a place in the counter and one among the windows; for each window a sort of
 * its words.
 */
#include "engine/topic/bags/bag_document.h"

#include <errno.h>
#include <stdlib.h>

#include "engine/topic/bags/bag_counter.h"

struct bag_document {
    struct bag_document_options options;
    struct bag_document_sink sink;
    struct bag_words *words;
    struct digest_key no_key; /* features, which nobody wants, have one all the same */

    uint64_t own;
    struct bag_document_counts counts;
    int error;
    struct bag_counter content;
    struct bag title_bag;
    struct link_windows *windows;
};

/* -- windows -- */

static void take_window(void *user, uint64_t target, uint64_t *words, size_t n)
{
    struct bag_document *document = user;
    struct bag bag;
    int r = document->error < 0 ? document->error : bag_count(words, n, &bag);
    document->error = r;
    if (r < 0)
        return;
    if (target == BAG_NO_TARGET) {
        bag_done(&document->title_bag);
        document->title_bag = bag;
        return;
    }
    document->sink.window(document->sink.user, target, &bag);
    document->counts.n_windows++;
    bag_done(&bag);
}

static void take_link(void *user, const struct canon_link *link)
{
    struct bag_document *document = user;
    if (link->title) {
        link_windows_title(document->windows, link->first, link->end);
        return;
    }
    document->counts.n_links++;
    if (!document->sink.target)
        return;
    bool is_own = link->href_bytes == 0 || link->href[0] == '#';
    uint64_t target =
        is_own ? document->own
               : document->sink.target(document->sink.user, link->href, link->href_bytes);
    if (is_own || (target == document->own && target != BAG_NO_TARGET)) {
        document->counts.n_own++;
        return;
    }
    if (target != BAG_NO_TARGET &&
        !link_windows_link(document->windows, target, link->first, link->end))
        document->counts.n_left_out++;
}

/* -- tokens -- */

static void take_word(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct bag_document *document = user;
    link_windows_word(document->windows, word);
    int r = bag_counter_add(&document->content, word);
    if (r == 1 && document->sink.word)
        document->sink.word(document->sink.user, word, stem, size_bytes);
    if (r == -E2BIG)
        document->counts.cut = true;
    else if (r < 0)
        document->error = r;
    else
        document->counts.n_words++;
}

static void take_tokens(void *user, const struct token_block *block)
{
    struct bag_document *document = user;
    for (size_t i = 0; i < block->n_tokens; i++) {
        bag_words_of(document->words, block, i);
        document->counts.n_tokens++;
        link_windows_token(document->windows);
    }
}

static void take_features(void *user, const struct feature *features, size_t n_features)
{
    (void)user;
    (void)features;
    (void)n_features;
}

struct canon_sink bag_document_sink(struct bag_document *document)
{
    return (struct canon_sink){.tokens = take_tokens,
                               .features = take_features,
                               .links = take_link,
                               .key = &document->no_key,
                               .user = document};
}

/* -- documents -- */

int bag_document_new(const struct bag_document_options *options,
                     const struct bag_document_sink *sink, struct bag_document **ret_document)
{
    if (options->most_words < 1 || options->most_words > 1u << 30)
        return -EINVAL;
    _cleanup_(bag_document_free_p) struct bag_document *document = calloc(1, sizeof(*document));
    if (!document)
        return -ENOMEM;
    document->options = *options;
    document->sink = *sink;
    document->content.most_words = options->most_words;
    int r = bag_words_new(&options->words, options->hash, take_word, document, &document->words);
    if (r == 0)
        r = link_windows_new(options->before, options->after, take_window, document,
                             &document->windows);
    if (r < 0)
        return r;
    *ret_document = TAKE_PTR(document);
    return 0;
}

void bag_document_free(struct bag_document *document)
{
    if (!document)
        return;
    bag_words_free(document->words);
    link_windows_free(document->windows);
    bag_counter_done(&document->content);
    bag_done(&document->title_bag);
    free(document);
}

void bag_document_begin(struct bag_document *document, uint64_t own)
{
    document->own = own;
    document->counts = (struct bag_document_counts){0};
    document->error = 0;
    link_windows_begin(document->windows);
    bag_counter_clear(&document->content);
    bag_done(&document->title_bag);
}

int bag_document_finish(struct bag_document *document, struct bag *ret_content,
                        struct bag *ret_title, struct bag_document_counts *ret_counts)
{
    link_windows_end(document->windows);
    if (document->error == 0)
        document->error = bag_counter_bag(&document->content, ret_content);
    if (document->error < 0)
        return document->error;
    *ret_title = document->title_bag;
    document->title_bag = (struct bag){0};
    *ret_counts = document->counts;
    return 0;
}
