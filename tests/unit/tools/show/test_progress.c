#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "tools/show/progress.h"

static void test_progress__a_bar_fills_from_nothing_to_all(void **state)
{
    (void)state;
    char text[160];
    progress_format(text, sizeof(text), 0, 0, true, 0);
    assert_string_equal(text, "[..............................] 0 of 0+ documents");
    progress_format(text, sizeof(text), 5, 10, false, 2);
    assert_string_equal(text,
                        "[###############...............] 5 of 10 documents, 2 a second, 3 s left");
    progress_format(text, sizeof(text), 12, 10, true, 7);
    assert_string_equal(text, "[##############################] 12 of 12+ documents, 7 a second");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress__a_bar_fills_from_nothing_to_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
