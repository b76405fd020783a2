/* Rows as they pass between tool and daemon. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/show/json_path.h"
#include "tools/questions/work.h"

static double through_text(double value)
{
    _cleanup_json_ struct json_object *row = json_object_new_object();
    struct json_object *member;
    work_add_ratio(row, "r", value);
    _cleanup_json_ struct json_object *parsed =
        json_tokener_parse(json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN));
    assert_true(json_object_object_get_ex(parsed, "r", &member));
    return member ? json_object_get_double(member) : NAN;
}

/* What a tool shows of a ratio is what a view shows of it, which was not sent. */
static void test_work__ratios_are_shown_as_if_not_sent(void **state)
{
    char shown[16], sent[16];
    (void)state;
    for (unsigned b = 1; b < 700; b++)
        for (unsigned a = 0; a <= b; a++) {
            snprintf(shown, sizeof(shown), "%.4f", (double)a / b);
            snprintf(sent, sizeof(sent), "%.4f", through_text((double)a / b));
            assert_string_equal(sent, shown);
        }
    /* which six digits would round up twice */
    snprintf(sent, sizeof(sent), "%.4f", through_text(0.9593497));
    assert_string_equal(sent, "0.9593");
}

static void test_work__ratios_below_one_are_not_one(void **state)
{
    (void)state;
    assert_true(through_text(1) == 1);
    assert_true(through_text(1 - 1e-15) < 1);
    assert_true(isnan(through_text(NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work__ratios_are_shown_as_if_not_sent),
        cmocka_unit_test(test_work__ratios_below_one_are_not_one),
    };
    return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
