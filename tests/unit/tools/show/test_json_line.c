#include "tools/show/json_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ratio.h"
#include "tools/questions/work.h"
#include "tools/show/json_path.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static char *printed(struct json_object *object)
{
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    assert_non_null(out);
    json_line_print(out, object);
    fclose(out);
    return text;
}

static void expect(const char *sent, const char *line)
{
    _cleanup_json_ struct json_object *object = json_tokener_parse(sent);
    assert_non_null(object);
    _cleanup_free_ char *once = printed(object), *twice = printed(object);
    assert_string_equal(once, line);
    assert_string_equal(twice, line);
}

static void test_json_line__numbers_have_four_decimals_at_most(void **state)
{
    (void)state;
    expect("{\"r\":0.811320755}", "{\"r\":0.8113}\n");
    expect("{\"r\":1.000000000}", "{\"r\":1.0000}\n");
    expect("{\"r\":0.999900000}", "{\"r\":0.9999}\n");
    expect("{\"r\":0.000049999,\"s\":0.000050001}", "{\"r\":0.0000,\"s\":0.0001}\n");
    expect("{\"a\":[{\"r\":0.123456789},0.123456789,[0.123456789]],\"o\":{\"r\":0.123456789}}",
           "{\"a\":[{\"r\":0.1235},0.1235,[0.1235]],\"o\":{\"r\":0.1235}}\n");
}

static void test_json_line__all_else_is_printed_as_it_is(void **state)
{
    (void)state;
    expect(
        "{\"count\":18446744073709551615,\"time\":-77,\"seconds\":12.345,\"distance\":1234.5}",
        "{\"count\":18446744073709551615,\"time\":-77,\"seconds\":12.345,\"distance\":1234.5}\n");
    expect(
        "{\"n\":null,\"b\":true,\"path\":\"a/0.123456789\",\"bell\":\"\\u0007\\u007f\\u009b\"}",
        "{\"n\":null,\"b\":true,\"path\":\"a/0.123456789\",\"bell\":\"\\u0007\\u007f\\u009b\"}\n");
}

/* U+061C, U+200E, U+202A, U+202E, U+2066 and U+2069, and U+2028; U+00E9, U+2027 and U+1F600 are as
 * they are. */
static void test_json_line__nothing_turns_a_line_round(void **state)
{
    (void)state;
    expect("{\"path\":\"a\u061cb\u200e\u202a\u202e\u2066\u2069.\"}",
           "{\"path\":\"a\\u061cb\\u200e\\u202a\\u202e\\u2066\\u2069.\"}\n");
    expect("{\"\u202e\":[\"\u2028\",\"\u00e9\u2027\U0001f600\"]}",
           "{\"\\u202e\":[\"\\u2028\",\"\u00e9\u2027\U0001f600\"]}\n");
}

/* The number that a program reads is the one that a person reads in its place, which is never 1 for
 * documents that are not equal, and the row can be calculated with afterwards as before. */
static void test_json_line__ratios_are_what_people_are_shown(void **state)
{
    (void)state;
    for (unsigned b = 1; b < 400; b++)
        for (unsigned a = 0; a <= b; a++) {
            const double ratio = (double)a / b;
            char line[64];
            _cleanup_json_ struct json_object *row = json_object_new_object();
            work_add_ratio(row, "r", ratio);
            _cleanup_free_ char *text = printed(row);
            snprintf(line, sizeof(line), "{\"r\":%s}\n", ratio_text(ratio).text);
            assert_string_equal(text, line);
            assert_true(fabs(work_number(row, "r", NAN) - ratio_shown(ratio)) < 1e-9);
        }
    _cleanup_json_ struct json_object *row = json_object_new_object();
    work_add_ratio(row, "r", 1 - 1e-15);
    work_add_ratio(row, "none", NAN);
    _cleanup_free_ char *text = printed(row);
    assert_string_equal(text, "{\"r\":0.9999,\"none\":null}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_line__numbers_have_four_decimals_at_most),
        cmocka_unit_test(test_json_line__all_else_is_printed_as_it_is),
        cmocka_unit_test(test_json_line__nothing_turns_a_line_round),
        cmocka_unit_test(test_json_line__ratios_are_what_people_are_shown),
    };
    return cmocka_run_group_tests_name("json_line", tests, NULL, NULL);
}
