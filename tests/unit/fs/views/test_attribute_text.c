#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fs/views/attribute_text.h"

static void test_attribute_text__names_and_attributes_go_both_ways(void **state)
{
    (void)state;
    int n = 0;
    for (int i = 1; i < N_ATTRIBUTES; i++) {
        const char *name = attribute_name((enum attribute)i), *path = "";
        if (!name)
            continue;
        n++;
        if (i == ATTRIBUTE_ROBOTS) /* others named it */
            assert_string_equal(name, "user.xdg.robots.backup");
        else
            assert_int_equal(strncmp(name, ATTRIBUTE_PREFIX, strlen(ATTRIBUTE_PREFIX)), 0);
        assert_int_equal(attribute_of_name(name, &path), i);
        assert_null(path);
    }
    assert_int_equal(n, N_ATTRIBUTES - 1 - 5); /* all but those with a path or a name */
}

static void test_attribute_text__a_path_stands_after_the_colon(void **state)
{
    (void)state;
    const char *path;
    assert_int_equal(attribute_of_name("user.kinfs.resemblance.error:/a/b", &path),
                     ATTRIBUTE_RESEMBLANCE_ERROR_TO);
    assert_string_equal(path, "a/b");
    assert_int_equal(attribute_of_name("user.kinfs.containment.error:a", &path),
                     ATTRIBUTE_CONTAINMENT_ERROR_IN);
    assert_int_equal(attribute_of_name("user.kinfs.resemblance:a/b c", &path),
                     ATTRIBUTE_RESEMBLANCE_TO);
    assert_string_equal(path, "a/b c");
    assert_int_equal(attribute_of_name("user.kinfs.containment:/a:b", &path),
                     ATTRIBUTE_CONTAINMENT_IN);
    assert_string_equal(path, "a:b");
    assert_int_equal(attribute_of_name("user.kinfs.cluster.near", &path), ATTRIBUTE_CLUSTER_IN);
    assert_string_equal(path, "near");
}

static void test_attribute_text__other_names_are_none(void **state)
{
    (void)state;
    static const char *const names[] = {"user.kinfs.",
                                        "user.kinfs.unknown",
                                        "user.kinfs.state.",
                                        "user.kinfs.resemblance:",
                                        "user.kinfs.cluster.",
                                        "user.kinfs.containment:/",
                                        "user.kinfs.nearest:a",
                                        "user.state",
                                        ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *path = "";
        assert_int_equal(attribute_of_name(names[i], &path), ATTRIBUTE_NONE);
        assert_null(path);
    }
}

static void assert_number(double value, const char *expected)
{
    char text[ATTRIBUTE_NUMBER_BYTES];
    assert_int_equal(attribute_number(value, text), 0);
    assert_string_equal(text, expected);
}

static void test_attribute_text__numbers_have_four_decimals_and_1_is_only_1(void **state)
{
    (void)state;
    char text[ATTRIBUTE_NUMBER_BYTES] = "kept";
    assert_number(0, "0.0000");
    assert_number(0.5, "0.5000");
    assert_number(3.0 / 7, "0.4286");
    assert_number(1, "1.0000");
    assert_number(nextafter(1, 0), "0.9999");
    assert_number(0.99996, "0.9999");
    assert_number(0.00004, "0.0000");
    assert_int_equal(attribute_number(NAN, text), -ENODATA);
    assert_string_equal(text, "kept");
}

static void test_attribute_text__lines_are_escaped_and_best_first(void **state)
{
    (void)state;
    struct kin kin[] = {{.path = (char *)"a/b\nc", .resemblance = 1},
                        {.path = (char *)"d", .resemblance = 0.5}};
    _cleanup_free_ char *text = NULL;
    size_t n_bytes, n_lines;
    assert_int_equal(
        attribute_lines(&(struct kin_list){.kin = kin, .n_kin = 2}, &text, &n_bytes, &n_lines), 0);
    assert_int_equal(n_lines, 2);
    assert_string_equal(text, "1.0000\ta/b\\nc\n0.5000\td\n");
    assert_int_equal(n_bytes, strlen(text));
}

static void test_attribute_text__lines_end_at_the_last_that_fits(void **state)
{
    (void)state;
    enum { N = 8000, LINE_BYTES = 6 + 1 + 9 + 1 };
    static struct kin kin[N];
    static char paths[N][16];
    for (int i = 0; i < N; i++) {
        snprintf(paths[i], sizeof(paths[i]), "path-%04d", i);
        kin[i] = (struct kin){.path = paths[i], .resemblance = 0.75};
    }
    for (int extra = 0; extra < 20; extra++) { /* the cut falls anywhere in a line */
        char first[64] = "";
        memset(first, 'x', (size_t)extra + 1);
        kin[0].path = first;
        _cleanup_free_ char *text = NULL;
        size_t n_bytes, n_lines;
        assert_int_equal(
            attribute_lines(&(struct kin_list){.kin = kin, .n_kin = N}, &text, &n_bytes, &n_lines),
            0);
        size_t first_bytes = 6 + 1 + (size_t)extra + 1 + 1;
        size_t n_more = (65536 - first_bytes) / LINE_BYTES;
        assert_int_equal(n_bytes, first_bytes + n_more * LINE_BYTES);
        assert_int_equal(n_lines, 1 + n_more);
        assert_int_equal(text[n_bytes - 1], '\n');
    }
}

static void test_attribute_text__no_kin_is_no_line(void **state)
{
    (void)state;
    _cleanup_free_ char *text = NULL;
    size_t n_bytes;
    assert_int_equal(attribute_lines(&(struct kin_list){0}, &text, &n_bytes, NULL), 0);
    assert_int_equal(n_bytes, 0);
    assert_non_null(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attribute_text__names_and_attributes_go_both_ways),
        cmocka_unit_test(test_attribute_text__a_path_stands_after_the_colon),
        cmocka_unit_test(test_attribute_text__other_names_are_none),
        cmocka_unit_test(test_attribute_text__numbers_have_four_decimals_and_1_is_only_1),
        cmocka_unit_test(test_attribute_text__lines_are_escaped_and_best_first),
        cmocka_unit_test(test_attribute_text__lines_end_at_the_last_that_fits),
        cmocka_unit_test(test_attribute_text__no_kin_is_no_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
