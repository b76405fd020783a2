/* Wiki markup by lines. Headings, lists and rules are marked by characters that separate words
 * anyway. The lines that begin a table and its rows are dropped, and the attributes of cells.
 *
 * Example: "{| class=x", "|-", "| align=left | a || b", "|}" show "a b"; "== [[Page|text]] =="
 * shows "text". Cost: one pass over the lines, with bounded looks ahead (WIKI_LOOKS). Left out:
 * templates, whose text is in other pages. */
#include "engine/text/formats/wiki.h"

#include <string.h>

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == ':';
}

/* A cell may have attributes before a bar, which are dropped. */
static void take_cell(struct wiki *wiki, const uint8_t *p, size_t n)
{
    const size_t bar = wiki_bar(wiki, p, n, 0);
    const size_t begin = bar < n ? bar + 1 : 0;
    wiki_inline(wiki, p + begin, n - begin);
    gather_separate(&wiki->gather);
}

/* Cells are separated by two bars, in lines of heads also by two exclamation marks. */
static void take_cells(struct wiki *wiki, const uint8_t *p, size_t n, bool heads)
{
    size_t begin = 0, at = 0;
    while (at < n) {
        const size_t bar = wiki_bar(wiki, p, n, at);
        const uint8_t *marks = heads && wiki->looks ? memmem(p + at, bar - at, "!!", 2) : NULL;
        const size_t end = marks ? (size_t)(marks - p) : bar;
        if (!marks && !wiki_begins(p + end, n - end, "||")) {
            at = end + 1;
            continue;
        }
        take_cell(wiki, p + begin, end - begin);
        begin = at = end + 2;
    }
    if (begin < n)
        take_cell(wiki, p + begin, n - begin);
}

/* Takes a line of a table. Returns false when it is none. */
static bool take_table_line(struct wiki *wiki, const uint8_t *p, size_t n)
{
    if (wiki_begins(p, n, "{|")) {
        wiki->n_tables += wiki->n_tables < UINT32_MAX;
        return true;
    }
    if (wiki->n_tables == 0 || n == 0 || (p[0] != '|' && p[0] != '!'))
        return false;
    if (wiki_begins(p, n, "|}")) {
        wiki->n_tables--;
        wiki_inline(wiki, p + 2, n - 2);
    } else if (!wiki_begins(p, n, "|-")) {
        const size_t n_mark = wiki_begins(p, n, "|+") ? 2 : 1;
        take_cells(wiki, p + n_mark, n - n_mark, p[0] == '!');
    }
    return true;
}

static void take_line(struct wiki *wiki, const struct line *line)
{
    const uint8_t *p = line->bytes;
    size_t n = line->n_bytes, blanks = 0;
    wiki->looks = WIKI_LOOKS * (uint32_t)n;
    while (blanks < n && is_blank(p[blanks]))
        blanks++;
    if (line->is_rest || wiki->inside != WIKI_IN_TEXT ||
        !take_table_line(wiki, p + blanks, n - blanks))
        wiki_inline(wiki, p, n);
    /* A comment or a template ends no word, even when it has several lines. */
    if (line->whole && (wiki->inside == WIKI_IN_TEXT || wiki->inside == WIKI_IN_NOWIKI))
        gather_separate(&wiki->gather);
}

void wiki_begin(struct wiki *wiki, struct words *words)
{
    memset(wiki, 0, offsetof(struct wiki, reader));
    line_reader_begin(&wiki->reader);
    gather_begin(&wiki->gather, words);
}

void wiki_feed(struct wiki *wiki, const uint8_t *bytes, size_t size_bytes)
{
    struct line line;
    while (line_next(&wiki->reader, &bytes, &size_bytes, &line))
        take_line(wiki, &line);
}

void wiki_finish(struct wiki *wiki)
{
    struct line line;
    if (line_last(&wiki->reader, &line))
        take_line(wiki, &line);
    gather_separate(&wiki->gather);
    gather_flush(&wiki->gather);
}
