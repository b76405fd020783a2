/* The links of Markdown: [text](target), [text][label], [label][], [label] where the label is
 * defined, <scheme:target>, [[Page]] and [[Page|text]], pictures, and href and src of tags in it.
 *
 * Example: "see [the page](a.md \"t\") and ![it](b.png)" links to a.md as "the page" and to b.png
 * as "it"; "[x][1]" and, anywhere, "[1]: c.md" to c.md as "x". A link may go on in the next line,
 * not in the next paragraph. In code there is none, be it fenced or between backticks.
 *
 * Cost: two passes over the lines, the first for the definitions; ends of brackets are looked for
 * ahead, LINK_TEXT_LOOKS a byte at most. Left out: blocks that are code because they are indented,
 * as in engine/text/formats/markdown.c; references to characters in targets.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/room.h"
#include "engine/text/formats/markdown.h"
#include "engine/topic/links/link_text.h"

enum { NESTING_MAX = 4, DEFINITIONS_MAX = 65536 };

struct definition {
    struct span label, target;
};

struct definitions {
    struct definition *all;
    size_t n, room;
};

struct markdown_links {
    struct link_text *text;
    struct definitions definitions;
};

/* -- lines -- */

struct lines {
    size_t at;
    uint32_t n_fence; /* 0: not within one */
    uint8_t fence;
};

/* The next line; true for *ret_is_code within fences, and for these. */
static bool next_line(struct lines *lines, const struct link_text *text, struct span *ret_line,
                      bool *ret_is_code)
{
    uint8_t character = 0;
    bool has_info = false;
    if (!link_text_line(text, &lines->at, ret_line))
        return false;
    const uint32_t n =
        markdown_fence((const uint8_t *)ret_line->p, ret_line->n, &character, &has_info);
    *ret_is_code = lines->n_fence > 0 || n > 0;
    if (lines->n_fence == 0) {
        lines->n_fence = n;
        lines->fence = character;
    } else if (n >= lines->n_fence && character == lines->fence && !has_info) {
        lines->n_fence = 0;
    }
    return true;
}

/* -- definitions -- */

/* Labels, trimmed, are equal but for letters' case and the kinds of blanks. */
static int compare_labels(struct span a, struct span b)
{
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        const int x = link_is_blank(a.p[i]) ? ' ' : tolower((unsigned char)a.p[i]),
                  y = link_is_blank(b.p[i]) ? ' ' : tolower((unsigned char)b.p[i]);
        if (x != y)
            return x - y;
    }
    return (a.n > b.n) - (a.n < b.n);
}

static int compare_definitions(const void *a, const void *b)
{
    const struct definition *x = a, *y = b;
    const int r = compare_labels(x->label, y->label);
    return r ? r : (x->label.p > y->label.p) - (x->label.p < y->label.p);
}

/* The target that begins here, <target> or up to a blank. */
static struct span take_target(struct span rest)
{
    rest = span_trim(rest);
    if (rest.n > 0 && *rest.p == '<') {
        rest = span_from(rest, 1);
        rest.n = span_index(rest, '>');
        return rest;
    }
    return span_word(rest);
}

static int find_definitions(struct markdown_links *links)
{
    struct definitions *definitions = &links->definitions;
    struct lines lines = {0};
    struct span line;
    bool is_code;
    while (next_line(&lines, links->text, &line, &is_code)) {
        if (is_code || definitions->n == DEFINITIONS_MAX ||
            !markdown_is_definition((const uint8_t *)line.p, line.n))
            continue;
        if (!MAKE_ROOM(definitions->all, definitions->room, definitions->n + 1))
            return -ENOMEM;
        struct span label = span_from(line, span_index(line, '[') + 1);
        size_t end = 0;
        while (label.p[end] != ']')
            end += label.p[end] == '\\' ? 2 : 1;
        definitions->all[definitions->n++] = (struct definition){
            span_trim((struct span){label.p, end}), take_target(span_from(label, end + 2))};
    }
    if (definitions->n > 0)
        qsort(definitions->all, definitions->n, sizeof(*definitions->all), compare_definitions);
    return 0;
}

/* The first of those with this label, or NULL. */
static const struct definition *find_definition(const struct definitions *definitions,
                                                struct span label)
{
    size_t low = 0, high = definitions->n;
    label = span_trim(label);
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_labels(definitions->all[middle].label, label) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const bool is_it =
        low < definitions->n && compare_labels(definitions->all[low].label, label) == 0;
    return is_it ? &definitions->all[low] : NULL;
}

/* -- within a paragraph -- */

/* A paragraph, or the text of a link in it: places are of the whole text. */
struct part {
    struct markdown_links *links;
    size_t at, end;
    unsigned nesting;
};

static void read_part(struct part *part);

static char at_place(const struct part *part, size_t at)
{
    return at < part->end ? part->links->text->bytes[at] : '\0';
}

static struct span between(const struct part *part, size_t begin, size_t end)
{
    return (struct span){part->links->text->bytes + begin, end - begin};
}

/* The place behind the code that begins with these backticks, or behind them. */
static size_t skip_code(struct part *part, size_t at)
{
    struct link_text *text = part->links->text;
    size_t n = 0;
    while (at_place(part, at + n) == '`')
        n++;
    for (size_t next = at + n, run; next < part->end; next += run) {
        next = link_text_find(text, next, part->end, "`");
        for (run = 0; at_place(part, next + run) == '`';)
            run++;
        if (run == n)
            return next + n;
        link_text_looked(text, run);
    }
    return at + n;
}

/* The place of the bracket that closes the one at `at`, or the end. */
static size_t closing_bracket(struct part *part, size_t at)
{
    struct link_text *text = part->links->text;
    size_t depth = 0, begin = at, closing = part->end,
           end = part->end - at > LINK_TEXT_MAX_BYTES ? at + LINK_TEXT_MAX_BYTES : part->end;
    if (text->looks == 0)
        end = at;
    while (at < end && closing == part->end) {
        const char c = text->bytes[at];
        if (c == ']' && --depth == 0)
            closing = at;
        depth += c == '[';
        at = c == '`' ? skip_code(part, at) : at + 1 + (c == '\\');
    }
    link_text_looked(text, at - begin);
    return closing;
}

/* [[Page]], [[Page|text]]; but not [[1]](target), the shell's [[ ]] and [[:class:]]. Returns the
 * place behind it, or `at` where it is none. */
static size_t read_page(struct part *part, size_t at)
{
    struct link_text *text = part->links->text;
    const size_t end = link_text_find(text, at, part->end, "]]");
    struct span page = between(part, at + 2, end);
    if (end == part->end || page.n > LINK_TEXT_MAX_BYTES || span_has(page, '[') ||
        span_has(page, '\n') || at_place(part, end + 2) == '(' ||
        memchr(" :", at_place(part, at + 2), 2))
        return at;
    const size_t bar = span_index(page, '|');
    const struct span words = bar < page.n ? span_from(page, bar + 1) : page;
    page.n = bar;
    link_text_put(text, LINK_PAGE, at, page, words);
    return end + 2;
}

/* The target behind the text of a link, and how many bytes stand there. No bytes: it is no link, or
 * by its label alone. */
static size_t read_behind(struct part *part, size_t at, struct span words, struct span *ret_target)
{
    struct link_text *text = part->links->text;
    const struct definition *definition;
    uint32_t looks = text->looks < UINT32_MAX ? (uint32_t)text->looks : UINT32_MAX;
    const uint32_t before = looks;
    if (at_place(part, at) == '(') {
        const size_t n_rest = part->end - at < 2 * LINK_TARGET_MAX_BYTES
                                  ? part->end - at
                                  : 2 * LINK_TARGET_MAX_BYTES,
                     n = markdown_destination((const uint8_t *)text->bytes + at, n_rest, &looks);
        text->looks -= before - looks;
        if (n == 0)
            return 0;
        *ret_target = take_target(between(part, at + 1, at + n - 1));
        return n;
    }
    size_t n = 0;
    if (at_place(part, at) == '[') {
        const size_t end = closing_bracket(part, at);
        if (end == part->end)
            return 0;
        n = end + 1 - at;
        if (n > 2)
            words = between(part, at + 1, end);
    }
    definition = find_definition(&part->links->definitions, words);
    if (definition)
        *ret_target = definition->target;
    return definition ? n : 0;
}

/* A bracket: a link, a picture, a page, or none. */
static void read_bracket(struct part *part)
{
    struct link_text *text = part->links->text;
    const size_t begin = part->at;
    if (at_place(part, begin + 1) == '[') {
        part->at = read_page(part, begin);
        if (part->at > begin)
            return;
    }
    part->at = begin + 1;
    const size_t end = closing_bracket(part, begin);
    if (end == part->end || part->nesting == NESTING_MAX || at_place(part, begin + 1) == '^')
        return;
    const struct span words = between(part, begin + 1, end);
    struct span target = {NULL, 0};
    const size_t n = read_behind(part, end + 1, words, &target);
    if (!target.p)
        return;
    link_text_put(text, LINK_URL, begin, target, words);
    struct part inner = {part->links, begin + 1, end, part->nesting + 1};
    read_part(&inner);
    part->at = end + 1 + n;
}

/* <scheme:target>, a comment, or a tag. */
static void read_less(struct part *part)
{
    struct link_text *text = part->links->text;
    const size_t begin = part->at;
    const bool is_comment = span_begins(between(part, begin, part->end), "<!--");
    const size_t end = link_text_find(text, begin, part->end, is_comment ? "-->" : ">");
    part->at = begin + 1;
    if (end == part->end)
        return;
    const struct span inside = between(part, begin + 1, end);
    if (is_comment) {
        part->at = end + 3;
    } else if (span_has_scheme(inside) && !span_has(inside, ' ')) {
        link_text_put(text, LINK_URL, begin, inside, inside);
        part->at = end + 1;
    } else if (span_begins_as(inside, "a") && inside.n > 1 && link_is_blank(inside.p[1])) {
        const size_t words_end = link_text_find(text, end, part->end, "</a");
        const struct span words = between(part, end + 1, words_end);
        link_text_put(text, LINK_URL, begin, span_attribute(inside, "href"),
                      words_end < part->end ? words : (struct span){words.p, 0});
        part->at = end + 1;
    } else if (span_begins_as(inside, "img") && inside.n > 3 && link_is_blank(inside.p[3])) {
        link_text_put(text, LINK_URL, begin, span_attribute(inside, "src"),
                      span_attribute(inside, "alt"));
        part->at = end + 1;
    }
}

static void read_part(struct part *part)
{
    while (part->at < part->end) {
        switch (part->links->text->bytes[part->at]) {
        case '\\': part->at += 2; break;
        case '`': part->at = skip_code(part, part->at); break;
        case '<': read_less(part); break;
        case '[': read_bracket(part); break;
        default: part->at++; break;
        }
    }
}

/* -- paragraphs -- */

/* The lines up to an empty one, to code, or to a definition. */
static void read_paragraphs(struct markdown_links *links)
{
    const struct link_text *text = links->text;
    struct lines lines = {0};
    struct span line;
    bool is_code, goes_on = true;
    for (size_t begin = 0, end = 0; goes_on;) {
        const size_t at = lines.at;
        goes_on = next_line(&lines, text, &line, &is_code);
        const bool is_text = goes_on && !is_code && span_trim(line).n > 0 &&
                             !markdown_is_definition((const uint8_t *)line.p, line.n);
        if (is_text && begin == end)
            begin = at;
        if (is_text) {
            end = (size_t)(line.p - text->bytes) + line.n;
            continue;
        }
        struct part part = {links, begin, end, 0};
        read_part(&part);
        begin = end = 0;
    }
}

int links_markdown(struct link_text *text)
{
    struct markdown_links links = {.text = text};
    _cleanup_free_ struct definition *all = NULL;
    const int r = find_definitions(&links);
    all = links.definitions.all;
    if (r == 0)
        read_paragraphs(&links);
    return r;
}
