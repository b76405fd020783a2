/* The links of LaTeX: \input, \include, \subfile, \includegraphics and \bibliography to files,
 * \href and \url to URLs.
 *
 * Example: "\input{part/one} % first" links to part/one; "\bibliography{a,b}" to a and to b;
 * "\href{x.html}{the page}" to x.html as "the page". What stands behind a percent sign is a
 * comment.
 *
 * Cost: one pass. Left out: \input without braces, as in plain TeX; names that a macro makes;
 * packages and classes, which are the system's.
 */
#include "engine/topic/links/link_text.h"

enum { ARGUMENT_MAX_BYTES = LINK_TARGET_MAX_BYTES };

/* The argument in braces that begins here, which may go on in other lines. Its place is moved
 * behind it; false: there is none. */
static bool take_argument(struct link_text *text, size_t *at, struct span *ret_argument)
{
    const size_t end = *at + ARGUMENT_MAX_BYTES < text->n ? *at + ARGUMENT_MAX_BYTES : text->n;
    size_t begin = *at;
    while (begin < end && link_is_blank(text->bytes[begin]))
        begin++;
    if (begin >= end || text->bytes[begin] != '{')
        return false;
    const size_t close = link_text_find(text, begin, end, "}");
    if (close == end)
        return false;
    *ret_argument = (struct span){text->bytes + begin + 1, close - begin - 1};
    *at = close + 1;
    return true;
}

static void skip_options(struct link_text *text, size_t *at)
{
    const size_t end = *at + ARGUMENT_MAX_BYTES < text->n ? *at + ARGUMENT_MAX_BYTES : text->n;
    if (*at < end && text->bytes[*at] == '[')
        *at = link_text_find(text, *at, end, "]") + 1;
}

static void put_each(struct link_text *text, enum link_kind kind, size_t at, struct span list)
{
    for (;;) {
        const size_t comma = span_index(list, ',');
        link_text_put(text, kind, at, (struct span){list.p, comma}, (struct span){list.p, 0});
        if (comma == list.n)
            return;
        list = span_from(list, comma + 1);
    }
}

/* Takes a command, whose backslash is at `at`. Returns the place behind it. */
static size_t read_command(struct link_text *text, size_t at)
{
    static const struct {
        const char *name;
        enum link_kind kind;
    } commands[] = {{"input", LINK_TEX},        {"include", LINK_TEX},
                    {"subfile", LINK_TEX},      {"includegraphics", LINK_TEX},
                    {"bibliography", LINK_TEX}, {"href", LINK_URL},
                    {"url", LINK_URL}};
    const size_t begin = at;
    struct span name = {text->bytes + at + 1, 0}, target, words;
    while (at + 1 + name.n < text->n && link_is_letter(name.p[name.n]))
        name.n++;
    at += 1 + name.n + (name.n == 0); /* a character that is escaped */
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!span_is(name, commands[i].name))
            continue;
        at += at < text->n && text->bytes[at] == '*';
        skip_options(text, &at);
        if (!take_argument(text, &at, &target))
            return at;
        words = (struct span){target.p, 0};
        if (span_is(name, "href"))
            take_argument(text, &at, &words);
        if (span_is(name, "bibliography"))
            put_each(text, commands[i].kind, begin, target);
        else
            link_text_put(text, commands[i].kind, begin, target, words);
        return at;
    }
    return at;
}

void links_latex(struct link_text *text)
{
    struct span line;
    for (size_t at = 0; at < text->n;) {
        if (text->bytes[at] == '%')
            link_text_line(text, &at, &line);
        else if (text->bytes[at] == '\\')
            at = read_command(text, at);
        else
            at++;
    }
}
