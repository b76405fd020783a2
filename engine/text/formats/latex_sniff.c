/* LaTeX is told by its first line that is no comment, which must begin with a command, and by the
 * class of a document or three lines that begin with commands for structure.
 *
 * Example: "% note\n\documentclass{article}" is LaTeX; "\d+ matches digits" is none, as nothing of
 * structure follows. Cost: a look at the lines of the head; most texts are refused at the first.
 * Left out: plain TeX, whose structure is macros of each author.
 */
#include "engine/text/formats/latex.h"

#include <string.h>

#include "base/bytes.h"
#include "engine/text/formats/line.h"

enum { LEAST_LINES = 3 };

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

bool latex_sniff(const uint8_t *head, size_t head_bytes)
{
    static const char *const documents[] = {"\\documentclass", "\\documentstyle",
                                            "\\begin{document}", NULL};
    static const char *const structure[] = {
        "\\part{",  "\\chapter", "\\section", "\\subsection", "\\subsubsection", "\\paragraph{",
        "\\begin{", "\\end{",    "\\item",    "\\label{",     "\\caption{",      NULL};
    size_t at = bytes_begin(head, head_bytes, "\xef\xbb\xbf") ? 3 : 0;
    unsigned n_lines = 0;
    bool first = true;
    while (at < head_bytes) {
        size_t n;
        const uint8_t *line = line_at(head, head_bytes, &at, &n);
        while (n > 0 && memchr(" \t\r", *line, 3)) {
            line++;
            n--;
        }
        if (n == 0 || *line == '%')
            continue;
        if (first && !(n > 1 && *line == '\\' && is_letter(line[1])))
            return false;
        first = false;
        if (begins_with_one_of(line, n, documents))
            return true;
        n_lines += begins_with_one_of(line, n, structure);
        if (n_lines == LEAST_LINES)
            return true;
    }
    return false;
}
