#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/cluster/pairs/key_lists.h"

/* As many bits as tell the documents apart and no more: what they leave is the fingerprint's. */
static void test_key_lists__numbers_have_the_bits_they_need(void **state)
{
    (void)state;
    for (unsigned bits = 12; bits < 32; bits++) {
        uint32_t most = (uint32_t)1 << bits;
        assert_int_equal(key_number_bits(most), bits);
        assert_int_equal(key_number_bits(most - 1), bits);
        assert_int_equal(key_number_bits(most + 1), bits + 1);
    }
    assert_int_equal(key_number_bits(UINT32_MAX), 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_lists__numbers_have_the_bits_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
