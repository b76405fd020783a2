/* Wiki markup is told from Markdown, AsciiDoc and programs that have double brackets: it has links
 * in double brackets and headings between equals signs, or other constructs of wikis beside them.
 *
 * Example: "== History ==" and "[[Page|text]]" are wiki markup; "if [[ -f x ]]" is a test in a
 * shell, whose brackets have a blank behind them. Cost: one pass over the lines of the head. */
#include "engine/text/formats/wiki.h"

#include <string.h>

#include "base/bytes.h"

enum { LEAST_LINKS = 3, SHARE_OF_CODE = 5 };

struct found {
    unsigned n_links, n_headings, n_others;
    unsigned n_lines, n_code; /* lines that are not empty; lines of code among them */
};

/* "== Heading ==" */
static bool is_heading(const uint8_t *p, size_t n)
{
    size_t level = 0;
    while (level < n && p[level] == '=')
        level++;
    return level >= 2 && level <= 6 && n > 2 * level && p[n - 1] == '=' && p[n - 2] == '=' &&
           p[level] != '>' && p[n - level - 1] != '=';
}

/* "[[Page|text]]" has a page that can be a name, and ends in its line. A test in a shell has a
 * blank behind its brackets. */
static unsigned count_links(const uint8_t *p, size_t n)
{
    unsigned n_links = 0;
    const uint8_t *end = p + n;
    while ((p = memchr(p, '[', (size_t)(end - p)))) {
        p++;
        if (end - p < 2 || p[0] != '[' || memchr(" \t[]\"'-$^:0123456789", p[1], 20))
            continue;
        const uint8_t *close = memchr(p, ']', (size_t)(end - p));
        if (!close)
            break;
        n_links += close + 1 < end && close[1] == ']';
        p = close;
    }
    return n_links;
}

static bool is_code(const uint8_t *p, size_t n)
{
    static const char *const beginnings[] = {"//",   "/*", "#include", "#define", "import ",
                                             "def ", "%",  "--",       "local ",  "function "};
    if (memchr(";{", p[n - 1], 2))
        return true;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (bytes_begin(p, n, beginnings[i]) && !bytes_begin(p, n, "---"))
            return true;
    return false;
}

static void look_at(struct found *found, const uint8_t *p, size_t n)
{
    found->n_lines++;
    found->n_code += is_code(p, n);
    found->n_headings += is_heading(p, n);
    found->n_links += count_links(p, n);
    found->n_others += bytes_begin(p, n, "{|") ||
                       (bytes_begin(p, n, "{{") && n > 2 && p[2] > '@') ||
                       memmem(p, n, "'''", 3) != NULL || memmem(p, n, "<ref", 4) != NULL;
}

bool wiki_sniff(const uint8_t *head, size_t head_bytes)
{
    struct found found = {0};
    size_t at = bytes_begin(head, head_bytes, "\xef\xbb\xbf") ? 3 : 0;
    if (!memchr(head, '[', head_bytes) || bytes_begin(head + at, head_bytes - at, "#!") ||
        !memmem(head, head_bytes, "[[", 2))
        return false;
    while (at < head_bytes) {
        size_t n;
        const uint8_t *line = line_at(head, head_bytes, &at, &n);
        while (n > 0 && memchr(" \t\r", line[n - 1], 3))
            n--;
        if (n > 0)
            look_at(&found, line, n);
    }
    return ((found.n_headings > 0 && found.n_links > 0) ||
            (found.n_links >= LEAST_LINKS && found.n_others > 0)) &&
           SHARE_OF_CODE * found.n_code <= found.n_lines;
}
