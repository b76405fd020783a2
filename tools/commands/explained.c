#include "tools/commands/explained.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/counted.h"
#include "base/escape.h"
#include "base/ratio.h"
#include "tools/commands/command.h"
#include "tools/show/json_path.h"

enum { USUAL_COLUMNS = 132, LEAST_COLUMNS = 60, NUMBER_COLUMNS = 7 };

int explained_read(struct explained *explained, unsigned side, const char *path, int fd,
                   const struct configuration *configuration, char **ret_error)
{
    _cleanup_(text_source_done) struct text_source text = {.fd = -1};
    struct word_places *words = &explained->words[side];
    explained->paths[side] = path;
    int r = text_source_open(path, fd, configuration, explained->until_ms, &text, ret_error);
    if (r < 0)
        return r;
    const size_t most_bytes =
        explained->most_bytes ? explained->most_bytes : WORD_PLACES_NAMED_BYTES;
    r = word_places_read(&text, most_bytes, explained->until_ms, words);
    if (r == -E2BIG)
        return refuse(ret_error, r,
                      "%s: its text has more than %zu MiB, or it is unpacked to more than %zu MiB",
                      path, most_bytes >> 20, WORD_PLACES_UNPACKED * (most_bytes >> 20));
    if (r < 0)
        return refuse(ret_error, r, "%s: %s", path, strerror(-r));
    if (!words->has_words)
        return refuse(ret_error, -ENODATA,
                      "%s: a table or no text, so there are no passages; kinfs compare tells how "
                      "alike it is",
                      path);
    return 0;
}

int explained_find(struct explained *explained, size_t least)
{
    const struct word_places *a = &explained->words[0], *b = &explained->words[1];
    return common_runs_find(a->words, a->n, b->words, b->n, least, &explained->runs);
}

void explained_done(struct explained *explained)
{
    word_places_done(&explained->words[0]);
    word_places_done(&explained->words[1]);
    common_runs_done(&explained->runs);
}

static size_t begin_of(const struct common_run *run, unsigned side)
{
    return side ? run->b : run->a;
}

static const struct word_place *place_of(const struct explained *explained, unsigned side, size_t i)
{
    return &explained->words[side].places[i];
}

static double share_of(const struct explained *explained, unsigned side)
{
    const size_t n = side ? explained->runs.n_shared_b : explained->runs.n_shared_a;
    return explained->words[side].n ? (double)n / (double)explained->words[side].n : 0;
}

static bool is_space(char byte)
{
    return (unsigned char)byte <= ' ';
}

/* A part of a text without white space at its ends; of what is inside a blank stands for each,
 * unless it is to stay. Gives. */
static char *part_of(const struct word_places *words, size_t begin, size_t end, bool stays)
{
    while (begin < end && is_space(words->text[begin]))
        begin++;
    while (end > begin && is_space(words->text[end - 1]))
        end--;
    char *part = message("%.*s", (int)(end - begin), words->text + begin), *to = part;
    for (const char *from = part; !stays && (*to = *from); from++)
        if (!is_space(*from) || !is_space(from[1])) {
            *to = is_space(*from) ? ' ' : *from;
            to++;
        }
    return part;
}

static char *passage_of(const struct explained *explained, const struct common_run *run,
                        unsigned side)
{
    const size_t i = begin_of(run, side);
    return part_of(&explained->words[side], place_of(explained, side, i)->begin,
                   place_of(explained, side, i + run->n - 1)->end, true);
}

static size_t n_printed(const struct explained *explained)
{
    const size_t n = explained->runs.n_runs;
    return explained->limit && explained->limit < n ? explained->limit : n;
}

/* -- text -- */

/* Characters, of which each takes a column. */
static size_t columns_of(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* The bytes of a text that fit into so many columns, and end with a word where one does. */
static size_t bytes_for(const char *text, size_t columns)
{
    size_t n = 0, at = 0, blank = 0;
    for (; text[at] && (n < columns || ((unsigned char)text[at] & 0xc0) == 0x80); at++) {
        n += ((unsigned char)text[at] & 0xc0) != 0x80;
        if (text[at] == ' ')
            blank = at;
    }
    return !text[at] || text[at] == ' ' || !blank ? at : blank;
}

/* A line, or the next of a longer cell, and its number where it has one. Returns what is left. */
static char *print_cell(char *text, uint32_t line, size_t columns, bool pads)
{
    const size_t n = bytes_for(text, columns);
    const char after = text[n];
    text[n] = '\0';
    if (line)
        printf("%*u  ", NUMBER_COLUMNS, line);
    else
        printf("%*s  ", NUMBER_COLUMNS, "");
    printf("%s%*s", text, pads ? (int)(columns - columns_of(text)) : 0, "");
    text[n] = after;
    return text + n + (after == ' ');
}

struct row {
    size_t first, n; /* words of the run */
    char *cells[2];
};

static char *cell_of(const struct explained *explained, const struct common_run *run, unsigned side,
                     size_t first, size_t n)
{
    const size_t i = begin_of(run, side) + first;
    size_t begin = place_of(explained, side, i)->begin;
    const size_t end = place_of(explained, side, i + n - 1)->end;
    /* A place in the text that several words stand in is shown once. */
    if (first && place_of(explained, side, i - 1)->end > begin)
        begin = place_of(explained, side, i - 1)->end;
    return escape_make_plain(
        part_of(&explained->words[side], begin < end ? begin : end, end, false));
}

/* As many words as fit into both columns. */
static void fill_row(const struct explained *explained, const struct common_run *run,
                     size_t columns, struct row *row)
{
    row->n = 0;
    row->cells[0] = row->cells[1] = NULL;
    while (row->first + row->n < run->n) {
        char *longer[2];
        bool fits = true;
        for (unsigned side = 0; side < 2; side++) {
            longer[side] = cell_of(explained, run, side, row->first, row->n + 1);
            fits &= columns_of(longer[side]) <= columns;
        }
        char **dropped = fits || row->n == 0 ? row->cells : longer;
        for (unsigned side = 0; side < 2; side++) {
            free(dropped[side]);
            if (dropped == row->cells)
                row->cells[side] = longer[side];
        }
        if (dropped != row->cells)
            return;
        row->n++;
        if (!fits)
            return;
    }
}

static void print_row(const struct explained *explained, const struct common_run *run,
                      const struct row *row, size_t columns)
{
    char *a = row->cells[0], *b = row->cells[1];
    for (bool is_first = true; is_first || *a || *b; is_first = false) {
        const uint32_t of_a = place_of(explained, 0, run->a + row->first)->line,
                       of_b = place_of(explained, 1, run->b + row->first)->line;
        a = print_cell(a, is_first ? of_a : 0, columns, true);
        fputs(" |", stdout);
        b = print_cell(b, is_first ? of_b : 0, columns, false);
        putchar('\n');
    }
}

static void print_run(const struct explained *explained, const struct common_run *run,
                      size_t columns)
{
    printf("\n%s\n", counted(run->n, "word").text);
    for (struct row row = {0}; row.first < run->n; row.first += row.n) {
        fill_row(explained, run, columns, &row);
        print_row(explained, run, &row, columns);
        free(row.cells[0]);
        free(row.cells[1]);
    }
}

static size_t terminal_columns(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_col)
        return USUAL_COLUMNS;
    return size.ws_col < LEAST_COLUMNS ? LEAST_COLUMNS : size.ws_col;
}

static void print_share(const struct explained *explained, unsigned side)
{
    _cleanup_free_ char *escaped = NULL;
    const size_t n = side ? explained->runs.n_shared_b : explained->runs.n_shared_a;
    if (escape_name(explained->paths[side], &escaped) == 0)
        printf("%s of %s is shared: %zu of %s\n", ratio_text(share_of(explained, side)).text,
               escaped, n, counted(explained->words[side].n, "word").text);
}

void explained_print(const struct explained *explained)
{
    const size_t columns = (terminal_columns() - 3) / 2 - NUMBER_COLUMNS - 2;
    print_share(explained, 0);
    print_share(explained, 1);
    for (size_t i = 0; i < n_printed(explained); i++)
        print_run(explained, &explained->runs.runs[i], columns);
}

/* -- JSON -- */

/* A character that would be cut is left out. */
static void cut_text(char *text, size_t most)
{
    if (strlen(text) <= most)
        return;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    text[most] = '\0';
}

static struct json_object *make_side(const struct explained *explained,
                                     const struct common_run *run, unsigned side)
{
    struct json_object *object = json_object_new_object();
    const size_t i = begin_of(run, side);
    _cleanup_free_ char *text = passage_of(explained, run, side);
    if (explained->text_most)
        cut_text(text, explained->text_most);
    work_add_count(object, "line", place_of(explained, side, i)->line);
    work_add_count(object, "last_line", place_of(explained, side, i + run->n - 1)->line);
    work_add_count(object, "word", i);
    json_path_add(object, "text", text);
    return object;
}

struct json_object *explained_json(const struct explained *explained)
{
    struct json_object *object = json_object_new_object();
    struct json_object *passages = json_object_new_array();
    json_path_add(object, "a", explained->paths[0]);
    json_path_add(object, "b", explained->paths[1]);
    work_add_count(object, "words_a", explained->words[0].n);
    work_add_count(object, "words_b", explained->words[1].n);
    work_add_count(object, "shared_words_a", explained->runs.n_shared_a);
    work_add_count(object, "shared_words_b", explained->runs.n_shared_b);
    work_add_ratio(object, "shared_a", share_of(explained, 0));
    work_add_ratio(object, "shared_b", share_of(explained, 1));
    for (size_t i = 0; i < n_printed(explained); i++) {
        const struct common_run *run = &explained->runs.runs[i];
        struct json_object *passage = json_object_new_object();
        work_add_count(passage, "words", run->n);
        json_object_object_add(passage, "a", make_side(explained, run, 0));
        json_object_object_add(passage, "b", make_side(explained, run, 1));
        json_object_array_add(passages, passage);
    }
    json_object_object_add(object, "passages", passages);
    return object;
}

void explained_print_json(const struct explained *explained)
{
    _cleanup_json_ struct json_object *object = explained_json(explained);
    command_print_json(object);
}

/* -- HTML -- */

/* Text of a document, which may be anything: no markup comes of it, and no control character. */
static void put_html(const char *text)
{
    _cleanup_free_ char *plain = message("%s", text);
    for (char *line = plain, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        for (const char *c = escape_make_plain(line); *c; c++)
            switch (*c) {
            case '&': fputs("&amp;", stdout); break;
            case '<': fputs("&lt;", stdout); break;
            case '>': fputs("&gt;", stdout); break;
            case '"': fputs("&quot;", stdout); break;
            default: putchar(*c);
            }
        if (end)
            putchar('\n');
    }
}

static void put_side(const struct explained *explained, const struct common_run *run, unsigned side)
{
    _cleanup_free_ char *text = passage_of(explained, run, side);
    const size_t i = begin_of(run, side);
    const uint32_t first = place_of(explained, side, i)->line,
                   last = place_of(explained, side, i + run->n - 1)->line;
    if (first == last)
        printf("<td><b>line %u</b>\n<pre>", first);
    else
        printf("<td><b>lines %u to %u</b>\n<pre>", first, last);
    put_html(text);
    puts("</pre></td>");
}

void explained_print_html(const struct explained *explained)
{
    puts(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\n<title>What two documents share"
        "</title>\n<style>\ntable { border-collapse: collapse; width: 100%; table-layout: fixed }\n"
        "td, th { border: 1px solid #999; padding: 0.5em; text-align: left; vertical-align: top }\n"
        "td:first-child, th:first-child { width: 4em; text-align: right }\n"
        "pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere }\n</style></head>\n"
        "<body><table>\n<tr><th>words</th>");
    for (unsigned side = 0; side < 2; side++) {
        fputs("<th>", stdout);
        put_html(explained->paths[side]);
        printf("<br>%s is shared: %zu of %s</th>\n", ratio_text(share_of(explained, side)).text,
               side ? explained->runs.n_shared_b : explained->runs.n_shared_a,
               counted(explained->words[side].n, "word").text);
    }
    puts("</tr>");
    for (size_t i = 0; i < n_printed(explained); i++) {
        const struct common_run *run = &explained->runs.runs[i];
        printf("<tr><td>%zu</td>\n", run->n);
        put_side(explained, run, 0);
        put_side(explained, run, 1);
        puts("</tr>");
    }
    puts("</table></body></html>");
}
