#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zstd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tools/documents/word_places.h"

static int read_bytes(const void *bytes, size_t n, size_t most_bytes, int64_t until_ms,
                      struct word_places *ret_places)
{
    _cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
    const struct text_source source = {.fd = fd};
    assert_int_equal(write(fd, bytes, n), n);
    return word_places_read(&source, most_bytes, until_ms, ret_places);
}

static int read_text(const char *text, size_t most_bytes, int64_t until_ms,
                     struct word_places *ret_places)
{
    return read_bytes(text, strlen(text), most_bytes, until_ms, ret_places);
}

static void test_word_places__tells_where_words_stand(void **state)
{
    (void)state;
    struct word_places places;
    assert_int_equal(read_text("one two\nthree one\n", 100, 0, &places), 0);
    assert_true(places.has_words);
    assert_int_equal(places.n, 4);
    const uint32_t lines[] = {1, 1, 2, 2};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(places.places[i].line, lines[i]);
    assert_int_equal(places.words[0], places.words[3]);
    assert_int_not_equal(places.words[0], places.words[1]);
    word_places_done(&places);
}

static void test_word_places__has_bounds(void **state)
{
    (void)state;
    static const char text[] = "one two three";
    struct word_places places;
    assert_int_equal(read_text(text, 4, 0, &places), -E2BIG);
    assert_int_equal(read_text(text, 100, clock_now_ms(), &places), -ETIMEDOUT);
    assert_null(places.text);
    assert_int_equal(places.n, 0);
    assert_int_equal(read_text(text, 100, INT64_MAX, &places), 0);
    assert_int_equal(places.n, 3);
    word_places_done(&places);
}

/* A comment of a page shows nothing, however long it is. */
static void test_word_places__bound_what_is_unpacked_whatever_it_shows(void **state)
{
    (void)state;
    static const char begin[] = "<html><body><p>one two three<!--";
    enum { HOLLOW_BYTES = 1 << 20, MOST_BYTES = HOLLOW_BYTES / 8 };
    static char page[HOLLOW_BYTES], packed[HOLLOW_BYTES / 2];
    struct word_places places;
    memset(page, 'a', sizeof(page));
    memcpy(page, begin, sizeof(begin) - 1);
    const size_t n = ZSTD_compress(packed, sizeof(packed), page, sizeof(page), 1);
    assert_false(ZSTD_isError(n));
    assert_int_equal(read_bytes(packed, n, MOST_BYTES, 0, &places), 0);
    assert_int_equal(places.n, 3);
    word_places_done(&places);
    assert_int_equal(read_bytes(packed, n, MOST_BYTES / (4 * WORD_PLACES_UNPACKED), 0, &places),
                     -E2BIG);
    assert_null(places.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_places__tells_where_words_stand),
        cmocka_unit_test(test_word_places__has_bounds),
        cmocka_unit_test(test_word_places__bound_what_is_unpacked_whatever_it_shows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
