#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "tools/documents/word_places.h"

static int read_text(const char *text, size_t most_bytes, int64_t until_ms,
                     struct word_places *ret_places)
{
    _cleanup_close_ int fd = memfd_create("text", MFD_CLOEXEC);
    const struct text_source source = {.fd = fd};
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return word_places_read(&source, most_bytes, until_ms, ret_places);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_word_places__tells_where_words_stand),
        cmocka_unit_test(test_word_places__has_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
