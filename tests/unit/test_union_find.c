#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "engine/cluster/union_find.h"

static void test_union_find__starts_with_every_member_alone(void **state)
{
    (void)state;
    struct union_find sets;
    assert_int_equal(union_find_init(&sets, 10), 0);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(union_find_root(&sets, i), i);
    union_find_done(&sets);
    assert_int_equal(union_find_init(&sets, 0), 0);
    union_find_done(&sets);
    union_find_done(&sets);
    assert_int_equal(union_find_init(&sets, (size_t)UINT32_MAX + 1), -EOVERFLOW);
}

static void test_union_find__agrees_with_relabelling_everything(void **state)
{
    (void)state;
    enum { N = 200, ROUNDS = 50 };
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct union_find sets;
        uint32_t label[N];
        unsigned seed = round;
        assert_int_equal(union_find_init(&sets, N), 0);
        for (uint32_t i = 0; i < N; i++)
            label[i] = i;
        for (unsigned joins = 0; joins < N; joins++) {
            uint32_t x = (uint32_t)rand_r(&seed) % N, y = (uint32_t)rand_r(&seed) % N;
            uint32_t keep = label[x] < label[y] ? label[x] : label[y];
            uint32_t drop = label[x] < label[y] ? label[y] : label[x];
            assert_int_equal(union_find_join(&sets, x, y), keep != drop);
            for (uint32_t i = 0; i < N; i++)
                if (label[i] == drop)
                    label[i] = keep;
        }
        for (uint32_t i = 0; i < N; i++)
            assert_int_equal(union_find_root(&sets, i), label[i]);
        union_find_done(&sets);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_union_find__starts_with_every_member_alone),
        cmocka_unit_test(test_union_find__agrees_with_relabelling_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
