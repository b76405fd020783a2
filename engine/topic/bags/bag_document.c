/* A document's words pass through a ring that has the last of them, each with the number of its
 * token. A link is known when its text has ended: its window is then an interval of token numbers,
 * [first - before, end + after), which waits in a queue until the last of these tokens has come (a
 * block of tokens comes when it is full, and links before it); then its words are still in the
 * ring. As links come in the order of their ends, so do the ends of windows, and the queue is first
 * in, first out. The title waits beside it, as its window ends with its text.
 *
 * Example with windows of one token: in "0 1 <a href=x>2</a> <a href=y>3</a> 4" x has the tokens
 * [1, 4) and y [2, 5). When token 4 has come x is complete, and y when the document ends. Were both
 * links to x, the second window would be [4, 5).
 *
 * Cost: for each word a place in the ring and one in the counter; for each window two binary
 * searches and a sort of its words. Left out: anchors within anchors, which HTML has none of.
 */
#include "engine/topic/bags/bag_document.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/topic/bags/bag_counter.h"

/* Tokens [begin, end) of the document; begin == end: none. */
struct window {
    uint64_t target, begin, end;
};

struct placed_word {
    uint64_t token, word;
};

struct bag_document {
    struct bag_document_options options;
    struct bag_document_sink sink;
    struct bag_words *words;
    struct digest_key no_key; /* features, which nobody wants, have one all the same */

    uint64_t own;
    struct bag_document_counts counts;
    int error;
    struct bag_counter content;
    struct window title;
    struct bag title_bag;
    bool title_open; /* not all of its tokens have come */

    /* Windows added and handed out so far; the last BAG_LINKS_AT_ONCE are at their number modulo
     * that, as are words in the ring. */
    uint64_t n_added, n_done, n_ring;
    struct window windows[BAG_LINKS_AT_ONCE];
    struct placed_word ring[BAG_WINDOW_MOST_WORDS];
    uint64_t fragment[BAG_WINDOW_MOST_WORDS];
};

/* -- windows -- */

/* The number of the first word in the ring, from `from` on, whose token is not before this one. */
static uint64_t find_word(const struct bag_document *document, uint64_t from, uint64_t token)
{
    uint64_t to = document->n_ring;
    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (document->ring[middle % BAG_WINDOW_MOST_WORDS].token < token)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* The bag of a window, all tokens of which have come. Returns false where it has no words. */
static bool window_bag(struct bag_document *document, const struct window *window,
                       struct bag *ret_bag)
{
    uint64_t n = document->n_ring;
    uint64_t oldest = n > BAG_WINDOW_MOST_WORDS ? n - BAG_WINDOW_MOST_WORDS : 0;
    uint64_t first = find_word(document, oldest, window->begin);
    uint64_t end = find_word(document, first, window->end);
    size_t n_words = 0;
    for (uint64_t i = first; i < end; i++)
        document->fragment[n_words++] = document->ring[i % BAG_WINDOW_MOST_WORDS].word;
    if (n_words == 0 || document->error < 0)
        return false;
    document->error = bag_count(document->fragment, n_words, ret_bag);
    return document->error == 0;
}

static void hand_out(struct bag_document *document, const struct window *window)
{
    struct bag bag;
    if (!window_bag(document, window, &bag))
        return;
    document->sink.window(document->sink.user, window->target, &bag);
    document->counts.n_windows++;
    bag_done(&bag);
}

/* Hands out what is complete when the tokens before this one have come. */
static void complete(struct bag_document *document, uint64_t token)
{
    if (document->title_open && document->title.end <= token) {
        document->title_open = false;
        window_bag(document, &document->title, &document->title_bag);
    }
    for (; document->n_done < document->n_added; document->n_done++) {
        const struct window *window = &document->windows[document->n_done % BAG_LINKS_AT_ONCE];
        if (window->end > token)
            break;
        hand_out(document, window);
    }
}

/* Where a window begins: behind the last one to the same target, if that reaches into it. The ends
 * of windows ascend, so those before one that does not reach into it do not either. */
static uint64_t begin_behind(const struct bag_document *document, uint64_t target, uint64_t begin)
{
    uint64_t oldest =
        document->n_added > BAG_LINKS_AT_ONCE ? document->n_added - BAG_LINKS_AT_ONCE : 0;
    for (uint64_t i = document->n_added; i-- > oldest;) {
        const struct window *window = &document->windows[i % BAG_LINKS_AT_ONCE];
        if (window->end <= begin)
            break;
        if (window->target == target)
            return window->end;
    }
    return begin;
}

/* Whether there is a place for one more window. That it is not asked which windows were handed out,
 * but which must have been, makes no difference between blocks: a block has so many tokens at most,
 * and one is open. */
static bool has_place(const struct bag_document *document, uint64_t end)
{
    if (document->n_added < BAG_LINKS_AT_ONCE)
        return true;
    if (document->n_added - document->n_done == BAG_LINKS_AT_ONCE)
        return false;
    const struct window *oldest = &document->windows[document->n_added % BAG_LINKS_AT_ONCE];
    return oldest->end + TOKEN_BLOCK_MAX + 1 <= end;
}

static void take_link(void *user, const struct canon_link *link)
{
    struct bag_document *document = user;
    complete(document, document->counts.n_tokens);
    if (link->title) {
        document->title = (struct window){BAG_NO_TARGET, link->first, link->end};
        document->title_open = true;
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
    if (target == BAG_NO_TARGET)
        return;
    if (!has_place(document, link->end)) {
        document->counts.n_left_out++;
        return;
    }
    uint32_t before = document->options.before;
    uint64_t begin = link->first > before ? link->first - before : 0;
    document->windows[document->n_added % BAG_LINKS_AT_ONCE] = (struct window){
        target, begin_behind(document, target, begin), link->end + document->options.after};
    document->n_added++;
}

/* -- tokens -- */

static void take_word(void *user, uint64_t word, const uint8_t *stem, size_t size_bytes)
{
    struct bag_document *document = user;
    document->ring[document->n_ring++ % BAG_WINDOW_MOST_WORDS] =
        (struct placed_word){document->counts.n_tokens, word};
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
        complete(document, document->counts.n_tokens);
        bag_words_of(document->words, block, i);
        document->counts.n_tokens++;
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
    bag_counter_done(&document->content);
    bag_done(&document->title_bag);
    free(document);
}

void bag_document_begin(struct bag_document *document, uint64_t own)
{
    document->own = own;
    document->counts = (struct bag_document_counts){0};
    document->error = 0;
    document->title_open = false;
    document->n_added = document->n_done = document->n_ring = 0;
    bag_counter_clear(&document->content);
    bag_done(&document->title_bag);
}

int bag_document_finish(struct bag_document *document, struct bag *ret_content,
                        struct bag *ret_title, struct bag_document_counts *ret_counts)
{
    complete(document, UINT64_MAX);
    if (document->error == 0)
        document->error = bag_counter_bag(&document->content, ret_content);
    if (document->error < 0)
        return document->error;
    *ret_title = document->title_bag;
    document->title_bag = (struct bag){0};
    *ret_counts = document->counts;
    return 0;
}
