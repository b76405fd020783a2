/* Lines of files: what is handed out, one part behind the other, is the file, and each part ends
 * where a search for newlines says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include <zstd.h>

#include "tools/documents/file_lines.h"

static int file_of(const void *bytes, size_t n_bytes)
{
    int fd = memfd_create("lines", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n_bytes), n_bytes);
    return fd;
}

/* All parts are read. Returns what ended that. */
static int check(struct file_lines *lines, int fd, const char *text, size_t n_text, size_t most)
{
    struct file_line line;
    size_t at = 0, begin = 0;
    int r = file_lines_begin(lines, fd, false);
    assert_int_equal(r, 0);
    while ((r = file_lines_next(lines, &line)) > 0) {
        const char *newline = memchr(text + begin, '\n', n_text - begin);
        const size_t end = newline ? (size_t)(newline - text) + 1 : n_text;
        assert_int_equal(line.begins, at == begin);
        assert_in_range(line.n_bytes, 1, most);
        assert_true(at + line.n_bytes <= end);
        assert_memory_equal(line.bytes, text + at, line.n_bytes);
        at += line.n_bytes;
        assert_int_equal(line.ends, at == end);
        if (line.ends)
            begin = end;
        else
            assert_int_equal(line.n_bytes, most);
    }
    if (r == 0)
        assert_int_equal(at, n_text);
    return r;
}

static void small_files(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",       "\n",      "\n\n", "a",        "a\n",        "a\nb",
        "abcd\n", "abcde\n", "abcd", "abcdefgh", "abcdefgh\n", "ab\ncdefghij\n\nk",
    };
    for (size_t most = 1; most < 10; most++) {
        _cleanup_(file_lines_free_p) struct file_lines *lines = file_lines_new(most, 8);
        assert_non_null(lines);
        for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
            _cleanup_close_ int fd = file_of(texts[i], strlen(texts[i]));
            assert_int_equal(check(lines, fd, texts[i], strlen(texts[i]), most), 0);
        }
    }
}

enum { LARGE_BYTES = 12 << 20 };

/* Lines of all lengths around those of buffers, and one of some MiB between short ones. */
static char *large_text(void)
{
    char *text = malloc(LARGE_BYTES);
    assert_non_null(text);
    memset(text, 'x', LARGE_BYTES);
    for (size_t at = 0, n = 0; at < LARGE_BYTES / 3; at += n = n * 3 / 2 + 1)
        text[at] = '\n';
    for (size_t at = LARGE_BYTES - (1 << 20); at < LARGE_BYTES - 5; at += 1 + at % 977)
        text[at] = '\n';
    return text;
}

static void large_file(void **state)
{
    (void)state;
    _cleanup_free_ char *text = large_text();
    _cleanup_close_ int fd = file_of(text, LARGE_BYTES);
    const size_t most[] = {1000, 1 << 18, (1 << 18) + 1, LARGE_BYTES};
    for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
        _cleanup_(file_lines_free_p) struct file_lines *lines = file_lines_new(most[i], 64);
        assert_non_null(lines);
        assert_int_equal(check(lines, fd, text, LARGE_BYTES, most[i]), 0);
        assert_int_equal(check(lines, fd, text, LARGE_BYTES, most[i]), 0);
    }
}

/* The same of a packed file; and lines before a damage are those of the file. */
static void packed_file(void **state)
{
    (void)state;
    _cleanup_free_ char *text = large_text(), *packed = malloc(ZSTD_compressBound(LARGE_BYTES));
    assert_non_null(packed);
    const size_t n = ZSTD_compress(packed, ZSTD_compressBound(LARGE_BYTES), text, LARGE_BYTES, 1);
    assert_false(ZSTD_isError(n));
    _cleanup_(file_lines_free_p) struct file_lines *lines = file_lines_new(LARGE_BYTES, 64);
    assert_non_null(lines);
    _cleanup_close_ int whole = file_of(packed, n), half = file_of(packed, n / 2);
    assert_int_equal(check(lines, whole, text, LARGE_BYTES, LARGE_BYTES), 0);
    assert_int_equal(check(lines, half, text, LARGE_BYTES, LARGE_BYTES), -EBADMSG);
    assert_int_equal(check(lines, whole, text, LARGE_BYTES, LARGE_BYTES), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_files),
        cmocka_unit_test(large_file),
        cmocka_unit_test(packed_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
