/* Markdown is told from texts, scripts and programs that happen to have a "#" at the beginning of a
 * line: it must have two kinds of constructs, three in all, and few lines of code outside of
 * fences.
 *
 * Example: "# Title", an empty line, and the lines "[x](y.md)" and "[z](w.md)" are a heading and
 * two links: Markdown. A shell script with comments has lines that look like headings, and no other
 * construct.
 *
 * Cost: one look for the bytes of brackets and fences; few texts are then read line by line. */
#include "engine/text/formats/markdown.h"

#include <string.h>

#include "base/bytes.h"

enum { LEAST = 3, SHARE_OF_CODE = 5 };

struct found {
    unsigned n_headings, n_fences, n_links, n_definitions;
    unsigned n_lines, n_code; /* lines that are not empty, outside of fences; lines of code */
    uint32_t looks;
};

/* "# Heading" */
static bool is_heading(const uint8_t *p, size_t n)
{
    size_t level = 0;
    while (level < n && p[level] == '#')
        level++;
    return level >= 1 && level <= 6 && n > level + 1 && p[level] == ' ' && p[level + 1] != ' ' &&
           p[level + 1] != '#';
}

/* A destination that is an address or a path, as no argument of a function is. */
static bool has_link(const uint8_t *p, size_t n, uint32_t *looks)
{
    static const char *const addresses[] = {"http://", "https://", "mailto:", "#",
                                            "/",       "./",       "../"};
    for (size_t at = 0; at + 2 < n; at++) {
        if (p[at] != ']' || p[at + 1] != '(' ||
            markdown_destination(p + at + 1, n - at - 1, looks) == 0)
            continue;
        for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
            if (bytes_begin(p + at + 2, n - at - 2, addresses[i]))
                return true;
        const uint8_t *end = memchr(p + at, ')', n - at);
        if (memmem(p + at, (size_t)(end - p) - at, ".md", 3))
            return true;
    }
    return false;
}

/* The destination of a definition: an address of the web, or of the document itself. */
static bool has_address(const uint8_t *p, size_t n)
{
    for (size_t at = 0; at < n; at++)
        if (bytes_begin(p + at, n - at, "]: http") || bytes_begin(p + at, n - at, "]: #"))
            return true;
    return false;
}

static bool is_code(const uint8_t *p, size_t n)
{
    static const char *const beginnings[] = {"//",      "/*",   "#include", "#define",
                                             "import ", "def ", "%",        "--"};
    if (memchr(";{}", p[n - 1], 3))
        return true;
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
        if (bytes_begin(p, n, beginnings[i]) && !bytes_begin(p, n, "---"))
            return true;
    return false;
}

static void look_at(struct found *found, const uint8_t *p, size_t n, bool alone)
{
    found->n_lines++;
    found->n_code += is_code(p, n);
    found->n_headings += alone && is_heading(p, n);
    found->n_definitions += markdown_is_definition(p, n) && has_address(p, n);
    found->n_links += has_link(p, n, &found->looks);
}

enum { MARKS_AT_ONCE = 64, MARK_BYTES = 3 };

static bool has_mark_among(const uint8_t p[MARKS_AT_ONCE + MARK_BYTES - 1])
{
    uint8_t found = 0;
    for (size_t i = 0; i < MARKS_AT_ONCE; i++) { /* no branch, so that compilers use vectors */
        uint8_t a = p[i], b = p[i + 1], c = p[i + 2];
        uint8_t bracket = (uint8_t)((a == ']') & ((b == '(') | (b == ':')));
        uint8_t fence = (uint8_t)(((a == '`') | (a == '~')) & (a == b) & (b == c));
        found |= bracket | fence;
    }
    return found;
}

/* Two kinds of constructs of four are needed, and only headings have neither a bracket nor a fence.
 * Most texts have none of these bytes, and are not read line by line. */
static bool has_mark(const uint8_t *head, size_t head_bytes)
{
    uint8_t last[MARKS_AT_ONCE + MARK_BYTES - 1] = {0};
    size_t at = 0;
    for (; at + sizeof(last) <= head_bytes; at += MARKS_AT_ONCE)
        if (has_mark_among(head + at))
            return true;
    memcpy(last, head + at, head_bytes - at);
    return has_mark_among(last);
}

bool markdown_sniff(const uint8_t *head, size_t head_bytes)
{
    struct found found = {.looks = (uint32_t)head_bytes * MARKDOWN_LOOKS};
    bool after_empty = true;
    uint32_t n_open = 0, n_fence;
    uint8_t open = 0, character;
    bool has_info;
    size_t at = bytes_begin(head, head_bytes, "\xef\xbb\xbf") ? 3 : 0;
    if (bytes_begin(head + at, head_bytes - at, "#!"))
        return false;
    if (!has_mark(head, head_bytes))
        return false;
    while (at < head_bytes) {
        size_t n;
        const uint8_t *line = line_at(head, head_bytes, &at, &n);
        while (n > 0 && memchr(" \t\r", line[n - 1], 3))
            n--;
        n_fence = markdown_fence(line, n, &character, &has_info);
        if (n_open > 0) {
            if (n_fence >= n_open && character == open && !has_info) {
                found.n_fences++;
                n_open = 0;
                n = 0; /* as after an empty line */
            }
        } else if (n_fence > 0) {
            n_open = n_fence;
            open = character;
        } else if (n > 0) {
            /* Between empty lines, or at the beginning. */
            bool before_empty = at >= head_bytes || head[at] == '\n' || head[at] == '\r';
            look_at(&found, line, n, after_empty && before_empty);
        }
        after_empty = n == 0;
    }
    unsigned n_kinds = (found.n_headings > 0) + (found.n_fences > 0) + (found.n_links > 0) +
                       (found.n_definitions > 0);
    unsigned n_all = found.n_headings + found.n_fences + found.n_links + found.n_definitions;
    return n_kinds > 1 && n_all >= LEAST && SHARE_OF_CODE * found.n_code <= found.n_lines;
}
