/* engine/text/encoding/converters.h */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "engine/text/encoding/converters.h"

/* Each has another letter at 0xe1: that of ISO 8859-1 is in none of them. */
static const struct {
    const char *name, *letter;
} charsets[] = {
    {"koi8-r", "А"},     {"windows-1251", "б"}, {"iso-8859-7", "α"}, {"iso-8859-8", "ב"},
    {"iso-8859-5", "с"}, {"iso-8859-6", "ف"},   {"iso-8859-4", "á"}, {"cp866", "с"},
    {"cp437", "ß"},      {"cp874", "แ"},
};
enum { N_CHARSETS = sizeof(charsets) / sizeof(charsets[0]) };

static void expect_letter(struct converters *converters, size_t i)
{
    char byte = '\xe1', out[8] = "", *from = &byte, *to = out;
    size_t n_in = 1, n_out = sizeof(out);
    iconv_t found = converters_find(converters, charsets[i].name);
    assert_true(found != (iconv_t)-1);
    assert_int_equal(iconv(found, &from, &n_in, &to, &n_out), 0);
    assert_string_equal(out, charsets[i].letter);
}

static void test_converters__a_document_has_its_first_few(void **state)
{
    (void)state;
    struct converters converters = {0};
    /* From each on in turn, so that all others are open already, or none is. */
    for (size_t first = 0; first < N_CHARSETS; first++) {
        converters_begin(&converters);
        for (int again = 0; again < 3; again++) {
            for (size_t i = 0; i < CONVERTERS_MAX; i++)
                expect_letter(&converters, (first + i) % N_CHARSETS);
            for (size_t i = CONVERTERS_MAX; i < N_CHARSETS; i++)
                assert_true(converters_find(&converters, charsets[(first + i) % N_CHARSETS].name) ==
                            (iconv_t)-1);
        }
    }
    converters_done(&converters);
}

static void test_converters__names_nobody_knows_take_no_place(void **state)
{
    (void)state;
    struct converters converters = {0};
    for (size_t i = 0; i < CONVERTERS_MAX; i++) {
        assert_true(converters_find(&converters, "klingon") == (iconv_t)-1);
        assert_true(converters_find(&converters, "iso-8859-99") == (iconv_t)-1);
        expect_letter(&converters, i);
    }
    converters_done(&converters);
}

/* The C library keeps each name that it does not have, unless it has all of them in a cache: not
 * where GCONV_PATH is set, before it is asked for the first one. */
static void test_converters__names_take_no_memory(void **state)
{
    (void)state;
    enum { N_NAMES = 1 << 15, BYTES_MOST = 256 * 1024 };
    struct converters converters = {0};
    for (size_t i = 0; i < CONVERTERS_MAX; i++)
        expect_letter(&converters, i);
    converters_begin(&converters);
    const size_t before = mallinfo2().uordblks;
    for (unsigned i = 0; i < N_NAMES; i++) {
        char unknown[CHARSET_NAME_MAX + 1], spelled[CHARSET_NAME_MAX + 1];
        snprintf(unknown, sizeof(unknown), "cp8%07u", i);
        assert_true(converters_find(&converters, unknown) == (iconv_t)-1);
        /* One that is known, with hyphens wherever bits are. */
        char *to = spelled;
        for (unsigned at = 0; at < strlen("kOi8R"); at++) {
            to = stpcpy(to, &"---"[3 - (i >> 3 * at & 3)]);
            *to++ = "kOi8R"[at];
        }
        *to = '\0';
        assert_true(converters_find(&converters, spelled) == converters.open[0].iconv);
    }
    assert_true(mallinfo2().uordblks < before + BYTES_MOST);
    converters_done(&converters);
}

/* A charset that has states is found in the first, wherever a broken document left it. */
static void test_converters__is_found_as_it_begins(void **state)
{
    (void)state;
    static const char in[] = "\x1b$B", letter[] = "a";
    struct converters converters = {0};
    char out[8] = "", *from = (char *)in, *to = out;
    size_t n_in = strlen(in), n_out = sizeof(out);
    assert_int_equal(iconv(converters_find(&converters, "iso-2022-jp"), &from, &n_in, &to, &n_out),
                     0);
    from = (char *)letter;
    n_in = 1;
    assert_int_equal(iconv(converters_find(&converters, "ISO-2022-JP"), &from, &n_in, &to, &n_out),
                     0);
    assert_string_equal(out, "a");
    converters_done(&converters);
}

int main(void)
{
    setenv("GCONV_PATH", "/nowhere", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_converters__a_document_has_its_first_few),
        cmocka_unit_test(test_converters__names_nobody_knows_take_no_place),
        cmocka_unit_test(test_converters__names_take_no_memory),
        cmocka_unit_test(test_converters__is_found_as_it_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
