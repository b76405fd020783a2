/* Lines against a splitter that has the whole text. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/formats/line.h"

struct lines {
    FILE *file;
    char *text;
    size_t size;
};

static void begin(struct lines *lines)
{
    lines->file = open_memstream(&lines->text, &lines->size);
    assert_non_null(lines->file);
}

static void add(struct lines *lines, const uint8_t *bytes, size_t n_bytes, bool whole, bool is_rest)
{
    fprintf(lines->file, "%s%.*s%s\n", is_rest ? ">" : "|", (int)n_bytes, (const char *)bytes,
            whole ? "|" : ">");
}

/* What an example of a reader does: a line that ends in a backslash goes on in the next, and of one
 * that is cut an "=" at the end is left for its rest. */
static bool goes_on(const uint8_t *bytes, size_t n)
{
    return n > 0 && bytes[n - 1] == '\\';
}

static struct lines by_reader(const char *text, size_t size, size_t piece_bytes)
{
    static struct line_reader reader;
    struct lines lines;
    struct line line;
    begin(&lines);
    line_reader_begin(&reader);
    for (size_t at = 0; at < size; at += piece_bytes) {
        size_t n = size - at < piece_bytes ? size - at : piece_bytes;
        uint8_t *piece = malloc(n);
        memcpy(piece, text + at, n);
        const uint8_t *p = piece;
        while (line_next(&reader, &p, &n, &line)) {
            size_t taken = line.n_bytes;
            assert_true(line.n_kept <= line.n_bytes);
            if (line.whole && goes_on(line.bytes, line.n_bytes)) {
                line_keep(&reader, &line, 0, line.n_bytes - 1);
                continue;
            }
            taken -= !line.whole && line.bytes[taken - 1] == '=';
            add(&lines, line.bytes, taken, line.whole, line.is_rest);
            if (taken < line.n_bytes)
                line_keep(&reader, &line, taken, 1);
        }
        assert_int_equal(n, 0);
        free(piece);
    }
    if (line_last(&reader, &line))
        add(&lines, line.bytes, line.n_bytes, line.whole, line.is_rest);
    assert_false(line_last(&reader, &line));
    fclose(lines.file);
    return lines;
}

static struct lines by_definition(const char *text, size_t size)
{
    struct lines lines;
    static uint8_t line[LINE_MAX_BYTES];
    size_t n = 0, n_kept = 0;
    bool is_rest = false;
    begin(&lines);
    for (size_t i = 0; i < size; i++) {
        line[n++] = (uint8_t)text[i];
        bool whole = text[i] == '\n';
        if (whole) {
            n--;
            n -= n > n_kept && line[n - 1] == '\r';
        } else if (n < LINE_MAX_BYTES) {
            continue;
        }
        n_kept = 0;
        if (whole && goes_on(line, n)) {
            n_kept = --n;
            continue;
        }
        bool leave = !whole && line[n - 1] == '=';
        add(&lines, line, n - leave, whole, is_rest);
        line[0] = '=';
        n = n_kept = leave;
        is_rest = !whole;
    }
    if (n > 0) {
        n -= n > n_kept && line[n - 1] == '\r';
        add(&lines, line, n, true, is_rest);
    }
    fclose(lines.file);
    return lines;
}

static void assert_same(const char *text, size_t size)
{
    static const size_t pieces[] = {1, 2, 7, 4096, LINE_MAX_BYTES, LINE_MAX_BYTES + 1, 1 << 20};
    struct lines expected = by_definition(text, size);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct lines found = by_reader(text, size, pieces[i]);
        assert_string_equal(found.text, expected.text);
        free(found.text);
    }
    free(expected.text);
}

static void assert_lines(const char *text, const char *expected)
{
    struct lines found = by_reader(text, strlen(text), 3);
    assert_string_equal(found.text, expected);
    free(found.text);
    assert_same(text, strlen(text));
}

static void test_line__ends_where_a_line_does(void **state)
{
    (void)state;
    assert_lines("", "");
    assert_lines("a", "|a|\n");
    assert_lines("a\n", "|a|\n");
    assert_lines("\n\na\n\nb", "||\n||\n|a|\n||\n|b|\n");
    assert_lines("a\r\nb\r", "|a|\n|b|\n");
    assert_lines("\r\n\r\r\n", "||\n|\r|\n");
}

static void test_line__goes_on_where_it_was_kept(void **state)
{
    (void)state;
    assert_lines("a\\\nb\\\nc\nd", "|abc|\n|d|\n");
    assert_lines("a\\\r\nb\r\n", "|ab|\n");
    assert_lines("a\r\\\n\r\nb", "|a\r|\n|b|\n"); /* what was kept is as it was */
    assert_lines("a\\\n", "|a|\n");
}

static void test_line__comes_in_parts_when_it_is_long(void **state)
{
    (void)state;
    static char text[4 * LINE_MAX_BYTES];
    static const char *const ends[] = {"", "\n", "\r\n", "\\\n", "=", "==\n", "=\\\r\n"};
    for (size_t parts = 1; parts <= 3; parts++)
        for (size_t size = parts * LINE_MAX_BYTES - 4; size < parts * LINE_MAX_BYTES + 4; size++)
            for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
                memset(text, 'x', size);
                sprintf(text + size, "%sb\nc", ends[i]);
                assert_same(text, size + strlen(text + size));
            }
}

static void test_line__does_not_depend_on_pieces(void **state)
{
    (void)state;
    static char text[40000];
    static const char bytes[] = "\n\r\\=xx";
    for (unsigned seed = 1; seed <= 100; seed++) {
        unsigned random = seed, most = seed % 3 ? 12 : 6000;
        size_t size = 0;
        while (size < sizeof(text) - most) {
            size_t n = (unsigned)rand_r(&random) % most;
            memset(text + size, 'x', n);
            size += n;
            text[size++] = bytes[(unsigned)rand_r(&random) % (sizeof(bytes) - 1)];
        }
        assert_same(text, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line__ends_where_a_line_does),
        cmocka_unit_test(test_line__goes_on_where_it_was_kept),
        cmocka_unit_test(test_line__comes_in_parts_when_it_is_long),
        cmocka_unit_test(test_line__does_not_depend_on_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
