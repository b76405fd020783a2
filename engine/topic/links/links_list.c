/* The files that a README, or an index of a directory, lists: lines that begin with what may be the
 * name of one, and say what it is. Which of them are names of files is for who resolves them.
 *
 * Example: "INSTALL   how to install" may link to INSTALL as "how to install"; so may "- `INSTALL`:
 * how to install", "* src/ - the source", and a line of a name alone. "This is a text" does not:
 * behind a name there are an end, a colon, two blanks, a tab, or a dash.
 *
 * Cost: one pass. Left out: names with blanks in them.
 */
#include "engine/topic/links/link_text.h"

enum { NAME_MAX_BYTES = 255 };

/* Characters that stand around a name, as lists and Markdown have it. */
static struct span without_marks(struct span name)
{
    while (name.n > 0 && memchr("`'\"*", *name.p, 4))
        name = span_from(name, 1);
    while (name.n > 0 && memchr("`'\"*,;", name.p[name.n - 1], 6))
        name.n--;
    return name;
}

static bool separates(struct span behind)
{
    return behind.n == 0 || *behind.p == '\t' || span_begins(behind, "  ") ||
           span_begins(behind, " - ") || span_begins(behind, " -- ") ||
           span_begins(behind, " : ") || span_begins(behind, " \xe2\x80\x94 ") ||
           span_begins(behind, " \xe2\x80\x93 ");
}

static bool is_name(struct span name)
{
    if (name.n == 0 || name.n > NAME_MAX_BYTES || *name.p == '/' || span_has(name, ':'))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (memchr("<>()[]{}|\\`\"=#", name.p[i], 15))
            return false;
    return !span_is(name, ".") && !span_is(name, "..");
}

void links_list(struct link_text *text)
{
    struct span line;
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        struct span rest = span_trim(line);
        const size_t place = (size_t)(line.p - text->bytes);
        if (rest.n > 2 && memchr("-*+", *rest.p, 3) && link_is_blank(rest.p[1]))
            rest = span_trim(span_from(rest, 2));
        struct span name = span_word(rest), words = span_from(rest, name.n);
        const bool has_colon = name.n > 1 && name.p[name.n - 1] == ':';
        if (!has_colon && !separates(words))
            continue;
        name.n -= has_colon;
        name = without_marks(name);
        for (words = span_trim(words); words.n > 0 && memchr("-:", *words.p, 2);)
            words = span_trim(span_from(words, 1));
        if (is_name(name))
            link_text_put(text, LINK_LISTED, place, name, words);
    }
}
