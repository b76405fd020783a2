/* The links of wiki markup, as MediaWiki has it: [[Page]], [[Page|text]], [[Page#section|text]],
 * [scheme:target text].
 *
 * Example: "see [[Some page|this]] and [[house]]s" links to the page "Some page" as "this", and to
 * the page "house" as "house"; "[[File:x.png|thumb|a [[cat]]]]" to the page "File:x.png", and to
 * "cat". In comments, nowiki and pre there are none.
 *
 * Cost: one pass, with bounded looks ahead. Left out: templates, whose text is in other pages.
 */
#include "engine/topic/links/link_text.h"

/* A piece of the text is passed over that begins like this and ends like that. */
static size_t skip(struct link_text *text, size_t at)
{
    static const char *const pairs[][2] = {
        {"<!--", "-->"}, {"<nowiki>", "</nowiki>"}, {"<pre>", "</pre>"}, {"<pre ", "</pre>"}};
    const struct span rest = {text->bytes + at, text->n - at};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (!span_begins_as(rest, pairs[i][0]))
            continue;
        const size_t end = link_text_find(text, at, text->n, pairs[i][1]);
        return end < text->n ? end + strlen(pairs[i][1]) : at + 1;
    }
    return at + 1;
}

static size_t line_end(struct link_text *text, size_t at)
{
    const size_t end = at + LINK_TARGET_MAX_BYTES < text->n ? at + LINK_TARGET_MAX_BYTES : text->n;
    return link_text_find(text, at, end, "\n");
}

/* The text of a link is the part behind the last bar: pictures have options before it. It ends
 * where another link begins in it. */
static struct span words_of(struct span inside)
{
    struct span words = inside;
    for (size_t bar; (bar = span_index(words, '|')) < words.n;)
        words = span_from(words, bar + 1);
    return words;
}

static size_t read_page(struct link_text *text, size_t at)
{
    const size_t end = line_end(text, at), close = link_text_find(text, at + 2, end, "]]"),
                 open = link_text_find(text, at + 2, close, "[[");
    if (close == end)
        return at + 2;
    struct span inside = {text->bytes + at + 2, open - at - 2}, target = inside;
    target.n = span_index(target, '|');
    if (target.n > 0 && *target.p != '#')
        link_text_put(text, LINK_PAGE, at, target, words_of(inside));
    return open < close ? open : close + 2;
}

static size_t read_outside(struct link_text *text, size_t at)
{
    const size_t end = line_end(text, at), close = link_text_find(text, at, end, "]");
    const struct span inside = {text->bytes + at + 1, close - at - 1};
    if (close == end || !(span_has_scheme(inside) || span_begins(inside, "//")))
        return at + 1;
    const struct span target = span_word(inside), words = span_from(inside, target.n);
    link_text_put(text, LINK_URL, at, target, words);
    return close + 1;
}

void links_wiki(struct link_text *text)
{
    for (size_t at = 0; at < text->n;) {
        const struct span rest = {text->bytes + at, text->n - at};
        if (*rest.p == '<')
            at = skip(text, at);
        else if (span_begins(rest, "[["))
            at = read_page(text, at);
        else if (*rest.p == '[')
            at = read_outside(text, at);
        else
            at++;
    }
}
