/* LaTeX is told by its first line that is no comment, which must begin with a command: of the class
 * of a document, a heading or another file; else three lines begin with commands for structure. A
 * part that begins otherwise is told by commands that stand within its text, where few lines are of
 * a program: documents that are about LaTeX quote them, and programs write two backslashes.
 *
 * Example: "% note\n\documentclass{article}" is LaTeX, and "\section{One}"; "\d+ matches digits" is
 * none, as nothing of structure follows; "the \emph{first} of" is, where two more such follow.
 * Cost: a look at the lines of the head; most texts are refused at the first, or have no backslash.
 * Left out: plain TeX, whose structure is macros of each author.
 */
#include "engine/text/formats/latex.h"

#include <string.h>

#include "base/bytes.h"
#include "engine/text/formats/line.h"

enum { LEAST_LINES = 3, LEAST_USES = 3, SHARE_OF_CODE = 8 };

static bool begins_with_one_of(const uint8_t *p, size_t n, const char *const *texts)
{
    while (*texts && !bytes_begin(p, n, *texts))
        texts++;
    return *texts;
}

static bool is_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* The line from *at on, without blanks in front and behind. */
static const uint8_t *next_line(const uint8_t *head, size_t head_bytes, size_t *at, size_t *ret_n)
{
    size_t n;
    const uint8_t *line = line_at(head, head_bytes, at, &n);
    for (; n > 0 && memchr(" \t\r", *line, 3); n--)
        line++;
    while (n > 0 && memchr(" \t\r", line[n - 1], 3))
        n--;
    *ret_n = n;
    return line;
}

/* True at a command of these names (without the backslash) with an argument or an option. */
static bool is_command(const uint8_t *p, size_t n, const char *const *names)
{
    size_t n_name = 1;
    if (n == 0 || *p != '\\')
        return false;
    while (n_name < n && is_letter(p[n_name]))
        n_name++;
    size_t end = n_name + (n_name < n && p[n_name] == '*');
    if (end == n || (p[end] != '{' && p[end] != '['))
        return false;
    for (; *names; names++)
        if (n_name == strlen(*names) + 1 && memcmp(p + 1, *names, n_name - 1) == 0)
            return true;
    return false;
}

bool latex_sniff(const uint8_t *head, size_t head_bytes)
{
    static const char *const documents[] = {"\\documentclass", "\\documentstyle",
                                            "\\begin{document}", NULL};
    static const char *const structure[] = {
        "\\part{",  "\\chapter", "\\section", "\\subsection", "\\subsubsection", "\\paragraph{",
        "\\begin{", "\\end{",    "\\item",    "\\label{",     "\\caption{",      NULL};
    static const char *const beginnings[] = {"part",          "chapter", "section", "subsection",
                                             "subsubsection", "input",   "include", NULL};
    size_t at = bytes_begin(head, head_bytes, "\xef\xbb\xbf") ? 3 : 0;
    unsigned n_lines = 0;
    bool first = true;
    while (at < head_bytes) {
        size_t n;
        const uint8_t *line = next_line(head, head_bytes, &at, &n);
        if (n == 0 || *line == '%')
            continue;
        if (first && !(n > 1 && *line == '\\' && is_letter(line[1])))
            return false;
        if (first && is_command(line, n, beginnings))
            return true;
        first = false;
        if (begins_with_one_of(line, n, documents))
            return true;
        n_lines += begins_with_one_of(line, n, structure);
        if (n_lines == LEAST_LINES)
            return true;
    }
    return false;
}

/* A line as programs, scripts and configurations have them, and tables of a data base. */
static bool is_code(const uint8_t *line, size_t n)
{
    static const char *const beginnings[] = {"#", "//", "/*", "* ", "--", "@", ";", "<", "|", NULL};
    return line[n - 1] == ';' || begins_with_one_of(line, n, beginnings);
}

/* Commands within the text of a line, but those in quotes. */
static unsigned count_uses(const uint8_t *line, size_t n)
{
    static const char *const names[] = {
        "emph",    "textit",     "textbf",        "texttt",    "textsc",  "cite",     "citep",
        "citet",   "ref",        "label",         "index",     "caption", "footnote", "chapter",
        "section", "subsection", "subsubsection", "paragraph", NULL};
    unsigned n_uses = 0;
    const uint8_t *end = line + n, *p = line;
    for (; (p = memchr(p, '\\', (size_t)(end - p))); p++) {
        const bool is_quoted = p > line && memchr("\\\"'`|/", p[-1], 6);
        n_uses += !is_quoted && is_command(p, (size_t)(end - p), names);
    }
    return n_uses;
}

bool latex_sniff_part(const uint8_t *head, size_t head_bytes)
{
    unsigned n_lines = 0, n_code = 0, n_uses = 0;
    size_t at = 0;
    if (!memchr(head, '\\', head_bytes) || bytes_begin(head, head_bytes, "#!"))
        return false;
    while (at < head_bytes) {
        size_t n;
        const uint8_t *line = next_line(head, head_bytes, &at, &n);
        if (n == 0 || *line == '%')
            continue;
        n_lines++;
        n_code += is_code(line, n);
        n_uses += count_uses(line, n);
    }
    return n_uses >= LEAST_USES && SHARE_OF_CODE * n_code <= n_lines;
}
