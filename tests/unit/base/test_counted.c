#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/counted.h"

static void test_counted__one_is_singular(void **state)
{
    (void)state;
    assert_string_equal(counted(0, "cluster").text, "0 clusters");
    assert_string_equal(counted(1, "cluster").text, "1 cluster");
    assert_string_equal(counted(2, "cluster").text, "2 clusters");
    assert_string_equal(counted(11, "shared shingle").text, "11 shared shingles");
    assert_string_equal(counted(UINT64_MAX, "row").text, "18446744073709551615 rows");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counted__one_is_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
