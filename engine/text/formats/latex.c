/* LaTeX by commands and groups. The name of a command is dropped, with its options in brackets, and
 * those of its arguments that are no text (keys, lengths, files, definitions); its other arguments
 * are text. Comments are dropped with the end of their line, as TeX does. Before \begin{document},
 * where there is a class, only titles and authors are shown, and behind \end{document} nothing is.
 * Letters and numbers of mathematics are text, those of one group joined, as they are on the page.
 *
 * Example: "\section*{A \emph{new} way}\label{s:1} to \"Uber%" has the words A, new, way, to and
 * U-umlaut-ber: \section shows its argument, \label drops it, \" is an accent.
 *
 * Cost: a state machine, one look at each byte, no allocation; a binary search for each command.
 *
 * Left out: macros that a document defines. Their expansion is not shown, their arguments are.
 * Verbatim text is text as it stands.
 */
#include "engine/text/formats/latex.h"

#include <string.h>

static bool is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static bool is_space(uint8_t c)
{
    return is_blank(c) || c == '\n' || c == '\r';
}

static bool is_shown(const struct latex *latex)
{
    return !latex->ended && (!latex->preamble || latex->title_depth > 1);
}

static void show(struct latex *latex, const uint8_t *bytes, size_t n)
{
    if (is_shown(latex))
        gather_put(&latex->gather, bytes, n);
}

static void separate(struct latex *latex)
{
    if (is_shown(latex))
        gather_separate(&latex->gather);
}

static bool name_is(const struct latex *latex, const char *name)
{
    return strcmp((const char *)latex->name, name) == 0;
}

static void begin_name(struct latex *latex)
{
    latex->n_name = 0;
    memset(latex->name, 0, sizeof(latex->name));
}

/* A name that is longer than any that is known is cut, and is none of these. */
static void add_to_name(struct latex *latex, uint8_t c)
{
    if (latex->n_name < LATEX_NAME_BYTES)
        latex->name[latex->n_name++] = c;
}

/* -- commands -- */

static void begin_accent(struct latex *latex, uint8_t accent)
{
    latex->state = LATEX_ACCENT;
    latex->accent = accent;
    latex->escaped = latex->options = latex->closed = false;
    latex->n_drop = 0;
}

static void end_name(struct latex *latex)
{
    const struct latex_command *command = latex_command((const char *)latex->name);
    latex->state = LATEX_ARGUMENTS;
    latex->closed = false;
    latex->n_drop = command->n_drop;
    latex->options = !(command->flags & LATEX_KEEPS_OPTION);
    if (!(command->flags & LATEX_INLINE))
        separate(latex);
    if (*command->text)
        show(latex, (const uint8_t *)command->text, strlen(command->text));
    if (name_is(latex, "documentclass") || name_is(latex, "documentstyle"))
        latex->preamble = true;
    if (command->flags & LATEX_SHOWN_IN_PREAMBLE)
        latex->title_depth = 1; /* its argument comes */
    if (command->flags & LATEX_IS_ACCENT)
        begin_accent(latex, latex->name[0]);
    if (name_is(latex, "begin") || name_is(latex, "end")) {
        latex->state = LATEX_ENVIRONMENT;
        latex->begins = name_is(latex, "begin");
        begin_name(latex);
    } else if (name_is(latex, "verb")) {
        latex->state = LATEX_VERB;
        latex->delimiter = 0;
    }
}

static void end_environment(struct latex *latex)
{
    static const char *const with_argument[] = {
        "tabular", "array", "minipage", "wrapfigure", "multicols", "thebibliography", NULL};
    static const char *const verbatim[] = {"verbatim", "lstlisting", "Verbatim", "minted", NULL};
    static const char *const hidden[] = {"comment", "tikzpicture", "filecontents", NULL};
    latex->state = LATEX_ARGUMENTS;
    latex->options = latex->begins;
    latex->n_drop = 0;
    if (name_is(latex, "document")) {
        latex->preamble = false;
        latex->ended = !latex->begins;
    }
    for (size_t i = 0; latex->begins && with_argument[i]; i++)
        latex->n_drop |= name_is(latex, with_argument[i]);
    for (size_t i = 0; latex->begins && verbatim[i]; i++)
        if (name_is(latex, verbatim[i])) {
            latex->state = LATEX_VERBATIM;
            latex->hidden = false;
        }
    for (size_t i = 0; latex->begins && hidden[i]; i++)
        if (name_is(latex, hidden[i])) {
            latex->state = LATEX_VERBATIM;
            latex->hidden = true;
        }
    latex->n_matched = 0;
    separate(latex);
}

static void take_symbol(struct latex *latex, uint8_t c)
{
    latex->state = LATEX_TEXT;
    if (memchr("'`^\"~=.", c, 7)) {
        begin_accent(latex, c);
    } else if (c == '\\') {
        latex->state = LATEX_ARGUMENTS; /* a distance may come */
        latex->options = true;
        latex->n_drop = 0;
        separate(latex);
    } else if (c == '_') {
        show(latex, &c, 1);
    } else if (!memchr("-/!@", c, 4)) {
        separate(latex);
    }
}

/* -- bytes; each function returns the number of those it took -- */

static void feed_brace(struct latex *latex, uint8_t c)
{
    if (c == '{') {
        if (latex->after_brace)
            separate(latex);
        if (latex->title_depth && latex->title_depth < UINT32_MAX)
            latex->title_depth++;
    } else if (latex->title_depth > 1 && --latex->title_depth == 1) {
        gather_separate(&latex->gather);
        latex->title_depth = 0;
    }
}

static bool is_special(uint8_t c)
{
    return c == '\\' || c == '{' || c == '}' || c == '%' || c == '$' || c == '&' || c == '~' ||
           c == '^' || c == '_';
}

static size_t feed_text(struct latex *latex, const uint8_t *p, size_t n)
{
    size_t i = 0;
    while (i < n && !is_special(p[i]))
        i++;
    if (i > 0) {
        show(latex, p, i);
        latex->after_brace = false;
        return i;
    }
    const bool ends_group = p[0] == '}';
    switch (p[0]) {
    case '\\': latex->state = LATEX_COMMAND; break;
    case '%': latex->state = LATEX_COMMENT; break;
    case '{':
    case '}': feed_brace(latex, p[0]); break;
    case '&':
    case '~': separate(latex); break;
    default: break; /* characters of mathematics */
    }
    latex->after_brace = ends_group;
    return 1;
}

static size_t feed_comment(struct latex *latex, const uint8_t *p, size_t n)
{
    const uint8_t *newline = memchr(p, '\n', n);
    if (!newline)
        return n;
    latex->state = LATEX_BEHIND_COMMENT;
    return (size_t)(newline - p) + 1;
}

/* Takes blanks behind a comment's line. An empty line there ends a paragraph, as anywhere. */
static size_t feed_behind_comment(struct latex *latex, uint8_t c)
{
    if (is_blank(c))
        return 1;
    latex->state = LATEX_TEXT;
    return 0;
}

static size_t feed_name(struct latex *latex, uint8_t c)
{
    if (is_letter(c)) {
        add_to_name(latex, c);
        return 1;
    }
    end_name(latex);
    return c == '*' && latex->state != LATEX_ACCENT && latex->state != LATEX_VERB;
}

static size_t feed_arguments(struct latex *latex, uint8_t c)
{
    if (c == '[' && latex->options) {
        latex->state = LATEX_OPTION;
        latex->depth = latex->n_option = 0;
        return 1;
    }
    if (c == '{' && latex->n_drop) {
        latex->state = LATEX_DROPPED;
        latex->depth = 1;
        latex->escaped = false;
        latex->n_drop--;
        return 1;
    }
    /* A blank behind a name is its end; behind it only arguments that are dropped are looked for.
     * Behind one of these it is a blank. */
    if (is_blank(c) || (latex->n_drop && is_space(c))) {
        if (latex->closed)
            separate(latex);
        return 1;
    }
    latex->state = LATEX_TEXT;
    return 0;
}

static size_t feed_option(struct latex *latex, uint8_t c)
{
    if (c == '{')
        latex->depth++;
    else if (c == '}' && latex->depth > 0)
        latex->depth--;
    if ((c == ']' && latex->depth == 0) || ++latex->n_option == LATEX_OPTION_BYTES) {
        latex->state = LATEX_ARGUMENTS;
        latex->closed = true;
    }
    return 1;
}

static size_t feed_dropped(struct latex *latex, uint8_t c)
{
    if (latex->escaped) {
        latex->escaped = false;
        return 1;
    }
    latex->escaped = c == '\\';
    latex->depth += c == '{' && latex->depth < UINT32_MAX;
    if (c == '}' && --latex->depth == 0) {
        latex->state = LATEX_ARGUMENTS;
        latex->closed = true;
    }
    return 1;
}

static size_t feed_environment(struct latex *latex, uint8_t c)
{
    if (c == '{' || is_blank(c))
        return 1;
    if (is_letter(c)) {
        add_to_name(latex, c);
        return 1;
    }
    if (c == '*')
        return 1;
    end_environment(latex);
    return c == '}';
}

/* Takes the letter of an accent, in braces or not, or \i and \j. */
static size_t feed_accent(struct latex *latex, uint8_t c)
{
    uint8_t bytes[LATEX_LETTER_BYTES];
    latex->escaped |= c == '\\';
    if (is_space(c) || c == '{' || c == '\\')
        return 1;
    latex->state = latex->escaped ? LATEX_ARGUMENTS : LATEX_TEXT; /* a blank ends a name */
    if (!is_letter(c))
        return 0;
    show(latex, bytes, latex_accent(latex->accent, c, bytes));
    return 1;
}

static size_t feed_verb(struct latex *latex, uint8_t c)
{
    if (!latex->delimiter) {
        latex->delimiter = c;
        return 1;
    }
    if (c == latex->delimiter || c == '\n') {
        latex->state = LATEX_TEXT;
        separate(latex);
    } else {
        show(latex, &c, 1);
    }
    return 1;
}

static size_t feed_verbatim(struct latex *latex, uint8_t c)
{
    static const char end[] = "\\end{";
    const size_t n_end = sizeof(end) - 1, at = latex->n_matched, n = n_end + latex->n_name;
    const uint8_t wanted = at < n_end ? (uint8_t)end[at] : at < n ? latex->name[at - n_end] : '}';
    if (c == wanted) {
        latex->n_matched++;
        if (at == n) {
            latex->state = LATEX_TEXT;
            if (!latex->hidden)
                separate(latex);
        }
        return 1;
    }
    latex->n_matched = 0;
    if (!latex->hidden) {
        show(latex, (const uint8_t *)end, at < n_end ? at : n_end);
        show(latex, latex->name, at < n_end ? 0 : at - n_end);
    }
    if (at > 0)
        return 0;
    if (!latex->hidden)
        show(latex, &c, 1);
    return 1;
}

static size_t feed(struct latex *latex, const uint8_t *p, size_t n)
{
    switch (latex->state) {
    case LATEX_TEXT: return feed_text(latex, p, n);
    case LATEX_COMMENT: return feed_comment(latex, p, n);
    case LATEX_BEHIND_COMMENT: return feed_behind_comment(latex, *p);
    case LATEX_NAME: return feed_name(latex, *p);
    case LATEX_ARGUMENTS: return feed_arguments(latex, *p);
    case LATEX_OPTION: return feed_option(latex, *p);
    case LATEX_DROPPED: return feed_dropped(latex, *p);
    case LATEX_ENVIRONMENT: return feed_environment(latex, *p);
    case LATEX_ACCENT: return feed_accent(latex, *p);
    case LATEX_VERB: return feed_verb(latex, *p);
    case LATEX_VERBATIM: return feed_verbatim(latex, *p);
    case LATEX_COMMAND: break;
    }
    if (is_letter(*p)) {
        begin_name(latex);
        latex->state = LATEX_NAME;
        return 0;
    }
    take_symbol(latex, *p);
    return 1;
}

void latex_begin(struct latex *latex, struct words *words)
{
    memset(latex, 0, offsetof(struct latex, gather));
    gather_begin(&latex->gather, words);
}

void latex_feed(struct latex *latex, const uint8_t *bytes, size_t size_bytes)
{
    while (size_bytes > 0) {
        const size_t n = feed(latex, bytes, size_bytes);
        bytes += n;
        size_bytes -= n;
    }
}

void latex_finish(struct latex *latex)
{
    if (latex->state == LATEX_NAME)
        end_name(latex);
    gather_separate(&latex->gather);
    gather_flush(&latex->gather);
}
