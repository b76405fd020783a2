#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ratio.h"
#include "fs/views/view_names.h"

static struct kin kin_of(const char *path, double resemblance)
{
    return (struct kin){.path = (char *)path, .resemblance = resemblance};
}

static void assert_names(const struct kin *kin, size_t n, const char *const *expected)
{
    char **names;
    assert_int_equal(view_names_make(kin, n, &names), 0);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(names[i], expected[i]);
    view_names_free(names, n);
}

static void test_view_names__round_down_and_keep_100_for_1(void **state)
{
    (void)state;
    assert_int_equal(ratio_percent(1.0), 100);
    assert_int_equal(ratio_percent(0.999999999999), 99);
    assert_int_equal(ratio_percent(0.0), 0);
    assert_int_equal(ratio_percent(0.5), 50);
    assert_int_equal(ratio_percent(0.879), 87);
    /* Every fraction a/b against whole-number division. */
    for (unsigned b = 1; b <= 400; b++)
        for (unsigned a = 0; a <= b; a++)
            assert_int_equal(ratio_percent((double)a / b), 100 * a / b);
}

static void test_view_names__have_resemblance_and_basename(void **state)
{
    (void)state;
    const struct kin kin[] = {kin_of("a/b/copyright", 1.0), kin_of("readme", 0.876),
                              kin_of("x/ a\nb", 0.05)};
    assert_names(kin, 3, (const char *[]){"100-copyright", "087-readme", "005- a\nb"});
}

static void test_view_names__of_passages_have_their_words(void **state)
{
    (void)state;
    struct kin kin[] = {kin_of("a/b", NAN), kin_of("c/b", NAN), kin_of("b", NAN)};
    kin[0].shared_words = kin[1].shared_words = 123;
    kin[2].shared_words = 1234567;
    assert_names(kin, 3, (const char *[]){"00123-b", "00123-b~2", "1234567-b"});
}

static void test_view_names__number_those_that_clash(void **state)
{
    (void)state;
    const struct kin kin[] = {kin_of("a/copyright", 0.93),  kin_of("b/copyright~2", 0.931),
                              kin_of("c/copyright", 0.935), kin_of("d/copyright", 0.9399),
                              kin_of("e/copyright", 0.94),  kin_of("f/copyright~2", 0.93)};
    assert_names(kin, 6,
                 (const char *[]){"093-copyright", "093-copyright~2", "093-copyright~3",
                                  "093-copyright~4", "094-copyright", "093-copyright~2~2"});
}

static void test_view_names__of_thousands_of_equal_names_are_unique(void **state)
{
    (void)state;
    enum { N = 5000 };
    static struct kin kin[N];
    for (int i = 0; i < N; i++)
        kin[i] = kin_of("d/copyright", 1.0);
    char **names;
    assert_int_equal(view_names_make(kin, N, &names), 0);
    assert_string_equal(names[0], "100-copyright");
    for (int i = 1; i < N; i++) {
        char expected[64];
        snprintf(expected, sizeof(expected), "100-copyright~%d", i + 1);
        assert_string_equal(names[i], expected);
    }
    view_names_free(names, N);
}

/* Each name is had twice, and has a number the second time, for which the end is cut in which it
 * differs from the others. */
static void test_view_names__that_are_equal_when_cut_have_the_next_number(void **state)
{
    (void)state;
    enum { N = 80000, BYTES = NAME_MAX - (sizeof("100-") - 1) };
    static char paths[N][BYTES + 1];
    static struct kin kin[2 * N];
    for (int i = 0; i < N; i++) {
        memset(paths[i], 'x', BYTES);
        snprintf(paths[i] + BYTES - 6, 7, "%06d", i);
        kin[2 * i] = kin[2 * i + 1] = kin_of(paths[i], 1.0);
    }
    char **names;
    assert_int_equal(view_names_make(kin, 2 * N, &names), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(strlen(names[2 * i]), NAME_MAX);
        assert_string_equal(names[2 * i] + NAME_MAX - BYTES, paths[i]);
        assert_int_equal(strlen(names[2 * i + 1]), NAME_MAX);
    }
    assert_string_equal(strchr(names[1], '~'), "~2");
    assert_string_equal(strchr(names[2 * 8 - 1], '~'), "~9");
    assert_string_equal(strchr(names[2 * 9 - 1], '~'), "~10");
    view_names_free(names, 2 * N);
}

/* Random names, of which many are equal when cut and some look like numbered ones, by the
 * definition: the least number that nobody before has. */
static void test_view_names__have_the_least_number_that_is_free(void **state)
{
    (void)state;
    enum { N = 400 };
    static char paths[N][NAME_MAX + 1];
    static struct kin kin[N];
    srand(7);
    for (int i = 0; i < N; i++) {
        const int n_long = rand() % 2 ? NAME_MAX - 12 + rand() % 3 : 1;
        memset(paths[i], 'x', (size_t)n_long);
        snprintf(paths[i] + n_long, NAME_MAX + 1 - (size_t)n_long, rand() % 3 ? "%d" : "~%d",
                 rand() % 120);
        kin[i] = kin_of(paths[i], 1.0);
    }
    char **names;
    assert_int_equal(view_names_make(kin, N, &names), 0);
    for (int i = 0; i < N; i++) {
        char expected[2 * NAME_MAX];
        for (int n = 1, is_free = 0; !is_free; n++) {
            char suffix[16] = "";
            if (n > 1)
                snprintf(suffix, sizeof(suffix), "~%d", n);
            snprintf(expected, sizeof(expected), "100-%.*s%s", (int)(NAME_MAX - 4 - strlen(suffix)),
                     paths[i], suffix);
            is_free = 1;
            for (int j = 0; j < i; j++)
                is_free &= strcmp(names[j], expected) != 0;
        }
        assert_string_equal(names[i], expected);
    }
    view_names_free(names, N);
}

/* A basename of exactly NAME_MAX bytes made of one repeated character. */
static char *long_name(const char *character, size_t n_odd)
{
    char *name = calloc(1, NAME_MAX + 1);
    memset(name, 'x', n_odd);
    size_t size = n_odd;
    while (size + strlen(character) <= NAME_MAX) {
        memcpy(name + size, character, strlen(character));
        size += strlen(character);
    }
    return name;
}

static bool is_whole_utf8(const char *s)
{
    while (*s) {
        unsigned char c = (unsigned char)*s++;
        int n = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        for (int i = 0; i < n; i++)
            if (((unsigned char)*s++ & 0xc0) != 0x80)
                return false;
    }
    return true;
}

static void test_view_names__that_are_too_long_are_cut_between_characters(void **state)
{
    (void)state;
    const char *characters[] = {"a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8c\xb3"};
    for (size_t c = 0; c < 4; c++) {
        for (size_t odd = 0; odd < 5; odd++) {
            char *name = long_name(characters[c], odd);
            struct kin kin[12];
            for (int i = 0; i < 12; i++)
                kin[i] = kin_of(name, 0.5);
            char **names;
            assert_int_equal(view_names_make(kin, 12, &names), 0);
            for (int i = 0; i < 12; i++) {
                assert_true(strlen(names[i]) <= NAME_MAX);
                assert_true(strlen(names[i]) > NAME_MAX - 4);
                assert_true(is_whole_utf8(names[i]));
                for (int j = 0; j < i; j++)
                    assert_string_not_equal(names[i], names[j]);
            }
            view_names_free(names, 12);
            free(name);
        }
    }
}

static void test_view_names__that_are_no_utf8_are_cut_anywhere(void **state)
{
    (void)state;
    char *name = long_name("\x80", 0);
    struct kin kin = kin_of(name, 0.5);
    char **names;
    assert_int_equal(view_names_make(&kin, 1, &names), 0);
    assert_int_equal(strlen(names[0]), NAME_MAX);
    view_names_free(names, 1);
    free(name);
}

static void test_view_names__of_links_are_told_from_others(void **state)
{
    (void)state;
    assert_true(view_names_is_link("093-copyright"));
    assert_true(view_names_is_link("100-"));
    assert_true(view_names_is_link("00123-copyright"));
    assert_true(view_names_is_link("1234567-copyright"));
    assert_false(view_names_is_link(""));
    assert_false(view_names_is_link("09"));
    assert_false(view_names_is_link("0930copyright"));
    assert_false(view_names_is_link(".git"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_names__round_down_and_keep_100_for_1),
        cmocka_unit_test(test_view_names__have_resemblance_and_basename),
        cmocka_unit_test(test_view_names__of_passages_have_their_words),
        cmocka_unit_test(test_view_names__number_those_that_clash),
        cmocka_unit_test(test_view_names__of_thousands_of_equal_names_are_unique),
        cmocka_unit_test(test_view_names__that_are_equal_when_cut_have_the_next_number),
        cmocka_unit_test(test_view_names__have_the_least_number_that_is_free),
        cmocka_unit_test(test_view_names__that_are_too_long_are_cut_between_characters),
        cmocka_unit_test(test_view_names__that_are_no_utf8_are_cut_anywhere),
        cmocka_unit_test(test_view_names__of_links_are_told_from_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
