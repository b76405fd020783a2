/* Roff is told by its first lines: the first is a comment or a known request or macro, and so is
 * another, or it is one that only man pages have.
 *
 * Example: ".TH LS 1" alone is enough; ".br" needs another macro; ".5 of them" begins with a dot
 * and is none. Cost: a look at the lines of the head; most texts are refused at the first one. */
#include "engine/text/formats/roff.h"

/* The evidence of a line for roff: 0, 1, or 2 for a macro that only man pages have, which is
 * enough.
 */
static int evidence(struct rest line, bool *ret_comment)
{
    static const char *const requests[] = {
        "ad", "am",  "br", "ce", "cs", "de", "de1", "do", "ds", "el", "ev", "fc",
        "fi", "fp",  "ft", "hw", "hy", "ie", "if",  "ig", "in", "lf", "ll", "lt",
        "mk", "mso", "na", "ne", "nf", "nh", "nr",  "ns", "pl", "po", "ps", "rm",
        "rn", "rr",  "rs", "sp", "ss", "ta", "ti",  "tl", "tr", "vs", NULL};
    static const char *const alone[] = {"br", "fi", "ig", "na", "nf", "nh", "sp", NULL};
    static const char *const pages[] = {"TH", "Dd", "Dt", NULL};
    *ret_comment = rest_begins(&line, ".\\\"") || rest_begins(&line, "'\\\"") ||
                   rest_begins(&line, "'''") || rest_begins(&line, ".\\#") ||
                   rest_begins(&line, "\\\"");
    if (*ret_comment)
        return line.p[1] != '\'';
    if (!rest_is_control(&line))
        return 0;
    line.p++;
    rest_skip_blanks(&line);
    struct rest name = rest_take_name(&line);
    rest_skip_blanks(&line);
    bool has_argument = line.p < line.end;
    if (rest_is_one_of(&name, pages) || (rest_is(&name, "so") && rest_begins(&line, "man")))
        return has_argument ? 2 : 0;
    if (roff_macro_find(name.p, rest_size(&name)) || rest_is_one_of(&name, alone))
        return 1;
    return has_argument && rest_is_one_of(&name, requests);
}

bool roff_sniff(const uint8_t *head, size_t head_bytes)
{
    struct rest rest = {head, head + head_bytes};
    int sum = 0;
    bool comment = false, macro = false;
    if (rest_begins(&rest, "\xef\xbb\xbf"))
        rest.p += 3;
    while (rest.p < rest.end && !(macro && sum > 1)) {
        const uint8_t *newline = memchr(rest.p, '\n', rest_size(&rest));
        struct rest line = {rest.p, newline ? newline : rest.end};
        rest.p = newline ? newline + 1 : rest.end;
        if (line.p < line.end && line.end[-1] == '\r')
            line.end--;
        struct rest begin = line;
        rest_skip_blanks(&begin);
        if (begin.p == begin.end || rest_is(&line, "."))
            continue;
        int says = evidence(line, &comment);
        if (says == 0 && !comment && sum == 0)
            return false;
        sum += comment && sum > 0 ? 0 : says;
        macro |= says > 0 && !comment;
    }
    return macro && sum > 1;
}
