/* The links of manual pages: name(section) in the text, .Xr of mdoc(7), and .so.
 *
 * Example: ".BR ls (1)," and "\fBls\fP(1)" and ".Xr ls 1" link to "ls(1)"; ".so man3/printf.3" to
 * the path. Between .nf and .fi, and .EX and .EE, which is for code, there are none.
 *
 * A line is read as it is shown: the arguments of macros that change the font in turn are joined,
 * and escapes are replaced (roff_show.c has them all; here those that stand in names). Cost: one
 * pass. Left out: names that go on in the next line; numbers of sections that a string holds.
 */
#include "engine/topic/links/link_text.h"

enum { SHOWN_MAX_BYTES = 1024, SECTION_MAX_BYTES = 8 };

struct shown {
    char bytes[SHOWN_MAX_BYTES];
    size_t n;
};

static void show(struct shown *shown, char c)
{
    if (shown->n < SHOWN_MAX_BYTES)
        shown->bytes[shown->n++] = c;
}

/* The bytes of the name behind an escape: "x", "(xx" or "[...]". */
static size_t name_bytes(struct span rest)
{
    if (rest.n == 0)
        return 0;
    if (*rest.p == '(')
        return rest.n < 3 ? rest.n : 3;
    if (*rest.p == '[') {
        const size_t end = span_index(rest, ']');
        return end < rest.n ? end + 1 : rest.n;
    }
    return 1;
}

/* Shows the escape that begins at the backslash. Returns its bytes. */
static size_t show_escape(struct shown *shown, struct span rest)
{
    if (rest.n < 2)
        return rest.n;
    const struct span name = span_from(rest, 2);
    switch (rest.p[1]) {
    case '-': show(shown, '-'); return 2;
    case 'e':
    case '\\': show(shown, '\\'); return 2;
    case ' ':
    case '~':
    case '0': show(shown, ' '); return 2;
    case 'f':
    case 'm':
    case 'F': return 2 + name_bytes(name);
    case 's': {
        size_t n = 2 + (name.n > 0 && (*name.p == '+' || *name.p == '-'));
        while (n < rest.n && link_is_digit(rest.p[n]))
            n++;
        return n;
    }
    case '(':
    case '[': {
        const struct span special = span_from(rest, 1);
        const size_t n = name_bytes(special);
        if (span_begins(special, "(hy") || span_begins(special, "[hy]") ||
            span_begins(special, "(mi") || span_begins(special, "[mi]"))
            show(shown, '-');
        else
            show(shown, ' ');
        return 1 + n;
    }
    case '*': show(shown, ' '); return 2 + name_bytes(name);
    default: return 2; /* \& \| \^ \: \/ \, \% and their like show nothing */
    }
}

static void show_text(struct shown *shown, struct span text)
{
    for (size_t at = 0; at < text.n;) {
        if (text.p[at] == '\\') {
            at += show_escape(shown, span_from(text, at));
        } else {
            show(shown, text.p[at]);
            at++;
        }
    }
}

/* The next argument of a macro, without its quotes. False at the end. */
static bool next_argument(struct span *rest, struct span *ret_argument)
{
    *rest = span_trim(*rest);
    if (rest->n == 0)
        return false;
    if (*rest->p == '"') {
        *ret_argument = span_from(*rest, 1);
        ret_argument->n = span_index(*ret_argument, '"');
        const size_t n = ret_argument->n + 2;
        *rest = n < rest->n ? span_from(*rest, n) : (struct span){rest->p + rest->n, 0};
        return true;
    }
    size_t n = 0;
    while (n < rest->n && !link_is_blank(rest->p[n]))
        n += rest->p[n] == '\\' && n + 1 < rest->n ? 2 : 1;
    *ret_argument = (struct span){rest->p, n};
    *rest = span_from(*rest, n);
    return true;
}

static bool is_one_of(struct span macro, const char *const *names)
{
    while (*names && !span_is(macro, *names))
        names++;
    return *names;
}

/* -- name(section) -- */

static bool is_name(char c)
{
    return link_is_letter(c) || link_is_digit(c) || memchr("_-.:+@", c, 6) ||
           (unsigned char)c >= 0x80;
}

/* A section is a digit and then letters, n or l: "3", "3pm", "1ssl", "n". */
static size_t section_bytes(struct span rest)
{
    size_t n = 1;
    if (rest.n == 0 || (*rest.p != 'n' && *rest.p != 'l' && !(*rest.p >= '1' && *rest.p <= '9')))
        return 0;
    if (link_is_digit(*rest.p))
        while (n < rest.n && n < SECTION_MAX_BYTES && link_is_letter(rest.p[n]))
            n++;
    return n;
}

static void find_pages(struct link_text *text, size_t at, const struct shown *shown)
{
    struct span rest = {shown->bytes, shown->n};
    for (size_t open; (open = span_index(rest, '(')) < rest.n; rest = span_from(rest, open + 1)) {
        const size_t n = section_bytes(span_from(rest, open + 1));
        size_t begin = open;
        while (begin > 0 && is_name(rest.p[begin - 1]))
            begin--;
        while (begin < open && !link_is_letter(rest.p[begin]) && rest.p[begin] != '_' &&
               !link_is_digit(rest.p[begin]))
            begin++;
        if (n == 0 || begin == open || open + 1 + n >= rest.n || rest.p[open + 1 + n] != ')')
            continue;
        const struct span page = {rest.p + begin, open + n + 2 - begin};
        link_text_put(text, LINK_MANUAL, at, page, page);
    }
}

/* -- lines -- */

/* ".Xr name section" */
static void read_reference(struct link_text *text, size_t at, struct span rest)
{
    struct shown page = {.n = 0};
    struct span name, section;
    if (!next_argument(&rest, &name) || !next_argument(&rest, &section) ||
        section_bytes(section) != section.n)
        return;
    show_text(&page, name);
    show(&page, '(');
    show_text(&page, section);
    show(&page, ')');
    const struct span shown = {page.bytes, page.n};
    link_text_put(text, LINK_MANUAL, at, shown, shown);
}

/* Returns whether code begins, or goes on. */
static bool read_macro(struct link_text *text, struct span line, bool is_code)
{
    static const char *const fonts[] = {"BR", "RB", "IR", "RI", "BI", "IB", NULL};
    static const char *const code[] = {"nf", "EX", "Bd", NULL};
    static const char *const no_code[] = {"fi", "EE", "Ed", NULL};
    const size_t at = (size_t)(line.p - text->bytes);
    struct span rest = span_trim(span_from(line, 1)), argument;
    const struct span macro = span_word(rest);
    struct shown shown = {.n = 0};
    rest = span_trim(span_from(rest, macro.n));
    if (is_one_of(macro, code) || is_one_of(macro, no_code))
        return is_one_of(macro, code);
    if (span_begins(macro, "\\\"")) /* a comment */
        return is_code;
    if (span_is(macro, "so")) {
        link_text_put(text, LINK_SOURCE, at, rest, (struct span){rest.p, 0});
        return is_code;
    }
    if (is_code)
        return true;
    if (span_is(macro, "Xr")) {
        read_reference(text, at, rest);
        return false;
    }
    const bool joined = is_one_of(macro, fonts);
    while (next_argument(&rest, &argument)) {
        show_text(&shown, argument);
        if (!joined)
            show(&shown, ' ');
    }
    find_pages(text, at, &shown);
    return false;
}

void links_manual(struct link_text *text)
{
    struct span line;
    bool is_code = false;
    for (size_t at = 0; link_text_line(text, &at, &line);) {
        if (line.n > 0 && (*line.p == '.' || *line.p == '\'')) {
            is_code = read_macro(text, line, is_code);
        } else if (!is_code) {
            struct shown shown = {.n = 0};
            show_text(&shown, line);
            find_pages(text, (size_t)(line.p - text->bytes), &shown);
        }
    }
}
