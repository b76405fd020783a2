/* The text of roff, line by line, as nroff would show it on a terminal, without headers and
 * footers:
 *
 *  - text lines are shown; one that ends in a backslash goes on in the next;
 *  - requests (.sp, .ds), whose names begin with a small letter, are dropped;
 *  - macros (.SH, .Ar) show their arguments, as roff_macro.c has it;
 *  - .TH, .Dd, .Dt and .Os are dropped: they are for headers and footers;
 *  - definitions (.de, .am) and .ig are dropped with all lines to their end;
 *  - .if, .ie and .el take the branch that nroff takes, as far as roff_condition.c knows, and drop
 *    the other one with its braces;
 *  - a table (.TS) shows its rows, without options and formats;
 *  - equations (.EQ) and pictures (.PS) are dropped: no one reads them as they stand.
 *
 * Example: ".SH NAME", "ls \- list", ".B \-a" and ".\" note" show "NAME ls - list -a".
 *
 * Left out: macros that the document defines. They are not expanded, a call shows its arguments. Of
 * 21,497 pages of Debian 12 a thousand define some, most of them of pod2man and the like, without
 * text; three have more than ten words in them (dmsetup, dmstats and crypt, 349, 236 and 39). A
 * file that .so includes is not read, as a document is read alone. Fifteen pages are nothing else,
 * and have no words. Text that macros add by themselves is not shown, but for the names of systems
 * and commands in mdoc.
 *
 * Compared with the words of `man -l PAGE | col -b`, less header and footer, on pages of Debian 12:
 * of 100 in English, by many tools, 97 have the same words in the same order, and of 72,609 words
 * 249 differ: 237 stand in a page that .so includes, 12 in names and addresses that .MT shows the
 * other way round. Of 40 in other languages all have. Of 40 in mdoc 29 have, and of 105,618 words
 * 442 differ: numbers of lists (.Bl -enum), the order and the "and" of references (.Rs), sentences
 * that .Ex and .St stand for, and "include" of .In outside of a synopsis.
 */
#include "engine/text/formats/roff.h"

/* A row of tbl(1) has fields; a field that is only a rule is no text. */
static void show_row(struct roff *roff, struct rest row)
{
    static const char *const no_text[] = {"_", "=", "\\_", "\\=", "\\^", "T{", NULL};
    if (rest_begins(&row, "T}"))
        row.p += 2;
    while (row.p < row.end) {
        const uint8_t *separator = memchr(row.p, roff->table_separator, rest_size(&row));
        struct rest field = {row.p, separator ? separator : row.end};
        if (!rest_is_one_of(&field, no_text) && !rest_begins(&field, "\\R"))
            roff_show(roff, field);
        roff->space = true;
        row.p = separator ? separator + 1 : row.end;
    }
}

static void read_table_options(struct roff *roff, const struct rest *line)
{
    const uint8_t *tab = memmem(line->p, rest_size(line), "tab", 3);
    struct rest at = {tab ? tab + 3 : line->end, line->end};
    rest_skip_blanks(&at);
    if (rest_size(&at) > 1 && *at.p == '(')
        roff->table_separator = at.p[1];
}

static void text_line(struct roff *roff, struct rest line)
{
    roff->joined = false;
    switch (roff->table_at) {
    case ROFF_TABLE_OPTIONS:
        roff->table_at = ROFF_TABLE_FORMAT;
        if (line.p < line.end && line.end[-1] == ';') {
            read_table_options(roff, &line);
            return;
        }
        /* fall through */
    case ROFF_TABLE_FORMAT:
        while (line.p < line.end && roff_is_blank(line.end[-1]))
            line.end--;
        if (line.p < line.end && line.end[-1] == '.')
            roff->table_at = ROFF_TABLE_ROWS;
        return;
    case ROFF_TABLE_ROWS: show_row(roff, line); break;
    case ROFF_NO_TABLE: roff_show(roff, line); break;
    }
    if (!roff->joined)
        roff->space = true;
}

/* -- conditions -- */

static void count_braces(struct roff *roff, struct rest line)
{
    while (roff->skip_depth > 0 && rest_size(&line) > 1 &&
           (line.p = memchr(line.p, '\\', rest_size(&line) - 1))) {
        roff->skip_depth += line.p[1] == '{';
        roff->skip_depth -= line.p[1] == '}';
        line.p += 2;
    }
}

/* Takes the rest of a line behind a condition. Returns true when a line is left to go on with. */
static bool branch(struct roff *roff, bool taken, struct rest *rest)
{
    bool block = rest_begins(rest, "\\{");
    rest->p += block ? 2 : 0;
    if (taken) {
        rest_skip_blanks(rest);
        return rest->p < rest->end;
    }
    roff->skip_depth = block;
    count_braces(roff, *rest);
    return false;
}

/* -- control lines -- */

/* Begins a part that is dropped up to a macro that ends it. Returns false when the name begins
 * none.
 */
static bool open_region(struct roff *roff, const struct rest *name, struct rest rest)
{
    static const char *const definitions[] = {"de",  "de1", "dei",  "dei1", "am",
                                              "am1", "ami", "ami1", NULL};
    bool quoted;
    struct rest end = {0};
    if (rest_is(name, "EQ") || rest_is(name, "PS")) {
        end = rest_is(name, "EQ") ? (struct rest){(const uint8_t *)"EN", NULL}
                                  : (struct rest){(const uint8_t *)"PE", NULL};
        end.end = end.p + 2;
    } else if (rest_is(name, "ig") || rest_is_one_of(name, definitions)) {
        if (!rest_is(name, "ig"))
            roff_take_argument(&rest, &end, &quoted);
        if (!roff_take_argument(&rest, &end, &quoted))
            end = (struct rest){(const uint8_t *)".", (const uint8_t *)"." + 1};
    } else {
        return false;
    }
    roff->n_end_name = roff_keep_name(roff->end_name, &end);
    return true;
}

/* Takes a request of roff, or a macro with a meaning of its own. Returns false for any other name.
 */
static bool request(struct roff *roff, const struct rest *name, const struct rest *rest)
{
    static const char *const breaks[] = {"br", "sp", "nf", "fi", "ce", "in", "ti", "bp", NULL};
    if (rest_is(name, "eo") || rest_is(name, "ec")) {
        roff->raw = rest_is(name, "eo");
    } else if (rest_is(name, "ds")) {
        roff_define_string(roff, *rest);
    } else if (rest_is(name, "nop")) {
        roff_show(roff, *rest);
        roff->space = true;
    } else if (rest_is(name, "TS")) {
        roff->table_at = ROFF_TABLE_OPTIONS;
        roff->table_separator = '\t';
    } else if (rest_is(name, "T&")) {
        roff->table_at = ROFF_TABLE_FORMAT;
    } else if (rest_is(name, "TE")) {
        roff->table_at = ROFF_NO_TABLE;
    } else if (rest_is(name, "Sm")) {
        roff->unspaced = rest_begins(rest, "off");
        roff->space = true;
    } else if (!open_region(roff, name, *rest) && rest_size(name) > 0 &&
               !((*name->p >= 'a' && *name->p <= 'z') || *name->p == '.' || *name->p == '\'')) {
        return false;
    }
    roff->space |= rest_is_one_of(name, breaks);
    return true;
}

/* Cuts a line at its comment, if there is one. */
static void cut_comment(struct rest *line)
{
    for (const uint8_t *p = line->p; p < line->end; p += 2) {
        p = memchr(p, '\\', (size_t)(line->end - p));
        if (!p || p + 1 == line->end)
            return;
        if (p[1] == '"' || p[1] == '#')
            line->end = p;
    }
}

/* Takes a control line, behind its dot. Returns true when a line is left behind a condition. */
static bool control_line(struct roff *roff, struct rest *rest)
{
    rest_skip_blanks(rest);
    struct rest name = rest_take_name(rest);
    rest_skip_blanks(rest);
    if (rest_is(&name, "if"))
        return branch(roff, roff_take_condition(rest), rest);
    if (rest_is(&name, "ie")) {
        bool taken = roff_take_condition(rest);
        roff->taken = roff->taken << 1 | taken;
        return branch(roff, taken, rest);
    }
    if (rest_is(&name, "el") || rest_is(&name, "while")) {
        bool taken = rest_is(&name, "el") && !(roff->taken & 1);
        roff->taken >>= rest_is(&name, "el");
        return branch(roff, taken, rest);
    }
    if (!request(roff, &name, rest))
        roff_macro_line(roff, roff_macro_find(name.p, rest_size(&name)), *rest);
    return false;
}

/* -- lines -- */

static bool ends_region(const struct roff *roff, struct rest line)
{
    if (!rest_is_control(&line))
        return false;
    line.p++;
    rest_skip_blanks(&line);
    struct rest name = rest_take_name(&line);
    return rest_size(&name) == roff->n_end_name &&
           memcmp(name.p, roff->end_name, roff->n_end_name) == 0;
}

static void take_line(struct roff *roff, const struct line *read)
{
    struct rest line = {read->bytes, read->bytes + read->n_bytes};
    roff->shows = (uint32_t)read->n_bytes * ROFF_SHOWS;
    if (read->is_rest) {
        if (!roff->drops_line) {
            roff_show(roff, line);
            roff->space = read->whole;
        }
        return;
    }
    roff->drops_line = true;
    if (roff->n_end_name > 0) {
        if (ends_region(roff, line))
            roff->n_end_name = 0;
        return;
    }
    if (roff->skip_depth > 0) {
        count_braces(roff, line);
        return;
    }
    if (rest_is_control(&line))
        cut_comment(&line);
    while (rest_is_control(&line)) {
        line.p++;
        if (!control_line(roff, &line))
            return;
    }
    roff->drops_line = false;
    text_line(roff, line);
    roff->space &= read->whole;
}

/* True when a line goes on in the next: it ends in a backslash that nothing escapes, outside of a
 * comment. The part of it that came from the line before has neither comments nor half escapes, and
 * is not looked at again. */
static bool goes_on(const struct line *line)
{
    const uint8_t *end = line->bytes + line->n_bytes;
    struct rest last = {line->bytes + line->n_kept, end};
    size_t n_backslashes = 0;
    while (n_backslashes < rest_size(&last) && end[-1 - (ssize_t)n_backslashes] == '\\')
        n_backslashes++;
    if (!line->whole || n_backslashes % 2 == 0)
        return false;
    cut_comment(&last);
    return last.end == end;
}

void roff_begin(struct roff *roff, struct words *words)
{
    memset(roff, 0, offsetof(struct roff, strings));
    line_reader_begin(&roff->reader);
    gather_begin(&roff->gather, words);
}

void roff_feed(struct roff *roff, const uint8_t *bytes, size_t size_bytes)
{
    struct line line;
    while (line_next(&roff->reader, &bytes, &size_bytes, &line)) {
        if (goes_on(&line))
            line_keep(&roff->reader, &line, 0, line.n_bytes - 1);
        else
            take_line(roff, &line);
    }
}

void roff_finish(struct roff *roff)
{
    struct line line;
    if (line_last(&roff->reader, &line))
        take_line(roff, &line);
    gather_separate(&roff->gather);
    gather_flush(&roff->gather);
}
