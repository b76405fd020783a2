/* The links of reStructuredText, and of Sphinx, which has more of them:
 *
 *   `text <target>`_              a URL; with two underscores, too
 *   .. _text: target              the same, where the text stands elsewhere
 *   .. image:: target             a URL; so figure
 *   .. include:: path             a path; so literalinclude, and :download:`text <path>`
 *   :doc:`text <path>`            a document, by its path without the ending; so each line of
 *                                 .. toctree::
 *
 * Example: "see `the page <a.html>`_" links to a.html as "the page". In ``code`` there is none.
 *
 * Cost: one pass, with bounded looks ahead. Left out: references to labels (:ref:), which are in a
 * table of Sphinx; anonymous targets; code in indented blocks, whose links count.
 */
#include "engine/topic/links/link_text.h"

static size_t place_of(const struct link_text *text, struct span span)
{
    return (size_t)(span.p - text->bytes);
}

/* "text <target>" to both; without target it is its own text. */
static struct span split(struct span inside, struct span *ret_target)
{
    inside = span_trim(inside);
    size_t less = inside.n;
    *ret_target = inside;
    if (inside.n < 2 || inside.p[inside.n - 1] != '>')
        return inside;
    while (less > 0 && inside.p[less - 1] != '<')
        less--;
    if (less == 0)
        return inside;
    *ret_target = (struct span){inside.p + less, inside.n - less - 1};
    const struct span words = span_trim((struct span){inside.p, less - 1});
    return words.n > 0 ? words : *ret_target;
}

/* The role that stands before a place, ":doc:", or nothing. */
static bool has_role(const struct link_text *text, size_t at, const char *role)
{
    const size_t n = strlen(role);
    return at >= n && memcmp(text->bytes + at - n, role, n) == 0;
}

/* Text that begins with a backtick. Returns the place behind it. */
static size_t read_backtick(struct link_text *text, size_t at)
{
    const size_t most = at + LINK_TARGET_MAX_BYTES < text->n ? at + LINK_TARGET_MAX_BYTES : text->n;
    const bool is_code = at + 1 < most && text->bytes[at + 1] == '`';
    const size_t end = link_text_find(text, at + 1 + is_code, most, is_code ? "``" : "`");
    if (end == most || link_text_find(text, at, end, "\n\n") < end)
        return at + 1 + is_code;
    if (is_code)
        return end + 2;
    struct span target;
    const struct span words = split((struct span){text->bytes + at + 1, end - at - 1}, &target);
    const bool has_target = target.p != words.p || (target.n > 0 && target.p[-1] == '<');
    if (has_role(text, at, ":doc:"))
        link_text_put(text, LINK_DOCUMENT, at, target, words);
    else if (has_role(text, at, ":download:"))
        link_text_put(text, LINK_PATH, at, target, words);
    else if (has_target && end + 1 < text->n && text->bytes[end + 1] == '_' &&
             (target.n == 0 || target.p[target.n - 1] != '_')) /* another label */
        link_text_put(text, LINK_URL, at, target, words);
    return end + 1;
}

/* Takes "name:: value" of a directive. Returns true at the beginning of a toctree. */
static bool read_directive(struct link_text *text, struct span rest)
{
    static const struct {
        const char *name;
        enum link_kind kind;
    } directives[] = {{"image::", LINK_URL},
                      {"figure::", LINK_URL},
                      {"include::", LINK_PATH},
                      {"literalinclude::", LINK_PATH}};
    if (span_begins(rest, "|")) { /* a substitution: its name comes first */
        const size_t bar = span_index(span_from(rest, 1), '|') + 1;
        rest = bar < rest.n ? span_trim(span_from(rest, bar + 1)) : rest;
    }
    for (size_t i = 0; i < sizeof(directives) / sizeof(directives[0]); i++)
        if (span_begins(rest, directives[i].name))
            link_text_put(text, directives[i].kind, place_of(text, rest),
                          span_from(rest, strlen(directives[i].name)), (struct span){rest.p, 0});
    return span_begins(rest, "toctree::");
}

/* ".. _text: target" */
static void read_target(struct link_text *text, struct span rest)
{
    struct span words = span_from(rest, 1);
    size_t colon = words.n > 0 && *words.p == '`' ? span_index(span_from(words, 1), '`') + 1 : 0;
    while (colon < words.n &&
           !(words.p[colon] == ':' && (colon + 1 == words.n || link_is_blank(words.p[colon + 1]))))
        colon += words.p[colon] == '\\' && colon + 1 < words.n ? 2 : 1;
    if (colon >= words.n)
        return;
    const struct span target = span_trim(span_from(words, colon + 1));
    words.n = colon;
    if (words.n > 1 && *words.p == '`' && words.p[words.n - 1] == '`')
        words = (struct span){words.p + 1, words.n - 2};
    if (target.n > 0 && target.p[target.n - 1] != '_')
        link_text_put(text, LINK_URL, place_of(text, rest), target, words);
}

/* A line in a toctree: an option, or a document. */
static void read_entry(struct link_text *text, struct span entry)
{
    struct span target;
    if (entry.n == 0 || *entry.p == ':' || span_is(entry, "self"))
        return;
    const struct span words = split(entry, &target);
    link_text_put(text, span_has_scheme(target) ? LINK_URL : LINK_DOCUMENT, place_of(text, entry),
                  target, words);
}

void links_rst(struct link_text *text)
{
    struct span line;
    size_t inline_at = 0;
    bool in_toctree = false;
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        const struct span content = span_trim(line);
        const size_t begin = place_of(text, line), end = begin + line.n;
        if (content.n > 0 && content.p == line.p)
            in_toctree = false;
        if (span_begins(content, ".. _")) {
            read_target(text, span_from(content, 3));
        } else if (span_begins(content, ".. ")) {
            in_toctree = read_directive(text, span_trim(span_from(content, 3)));
        } else if (in_toctree) {
            read_entry(text, content);
        } else {
            size_t place = inline_at > begin ? inline_at : begin;
            while (place < end) { /* what goes on in the next line ends behind it */
                place = link_text_find(text, place, end, "`");
                if (place < end)
                    place = read_backtick(text, place);
            }
            inline_at = place;
        }
    }
}
