#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "fs/inodes/node.h"

static void test_node__an_id_is_that_of_its_node(void **state)
{
    (void)state;
    struct node nodes[1000] = {0};
    assert_int_equal(node_secret_draw(), 0);
    for (size_t i = 0; i < 1000; i++) {
        assert_ptr_equal(node_of_id(node_id(&nodes[i])), &nodes[i]);
        assert_true(node_id(&nodes[i]) > 1);
    }
    const uint64_t numbers[] = {2, 3, UINT32_MAX, UINT64_C(1) << 32, UINT64_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        assert_true(node_reveal(node_conceal(numbers[i])) == numbers[i]);
}

static void test_node__no_id_is_that_of_the_root_or_none(void **state)
{
    (void)state;
    assert_int_equal(node_secret_draw(), 0);
    /* What would get one of them, gets that of what they would get. */
    for (uint64_t number = 0; number <= 1; number++) {
        uint64_t would = node_reveal(number), gets = node_conceal(would);
        assert_true(would > 1);
        assert_true(gets > 1);
        assert_true(node_reveal(gets) == would);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void test_node__ids_tell_neither_addresses_nor_how_many_lie_between(void **state)
{
    (void)state;
    enum { N = 4096, APART = 256 };
    static uint64_t differences[2 * N];
    const uint64_t heap = UINT64_C(0x00007f0123456000);
    assert_int_equal(node_secret_draw(), 0);
    unsigned n_alike[64] = {0}, n_ordered = 0;
    for (uint64_t i = 0; i < N; i++) {
        uint64_t address = heap + i * APART, id = node_conceal(address);
        for (int bit = 0; bit < 64; bit++)
            n_alike[bit] += (id >> bit & 1) == (address >> bit & 1);
        uint64_t next = node_conceal(address + APART);
        differences[2 * i] = id ^ next;
        differences[2 * i + 1] = next - id;
        n_ordered += id < next;
    }
    /* Each bit is right half of the time: 2,048, give or take 32; 10 of those either way. */
    for (int bit = 0; bit < 64; bit++)
        assert_in_range(n_alike[bit], N / 2 - 320, N / 2 + 320);
    assert_in_range(n_ordered, N / 2 - 320, N / 2 + 320);
    /* And no difference of two neighbours comes twice. */
    qsort(differences, 2 * N, sizeof(differences[0]), compare);
    for (size_t i = 1; i < 2 * N; i++)
        assert_true(differences[i] != differences[i - 1]);
}

static void test_node__another_process_has_other_ids(void **state)
{
    (void)state;
    assert_int_equal(node_secret_draw(), 0);
    uint64_t first = node_conceal(4096), seed = node_secret.seed;
    assert_int_equal(node_secret_draw(), 0);
    assert_true(node_conceal(4096) != first);
    assert_true(node_secret.seed != seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_node__an_id_is_that_of_its_node),
        cmocka_unit_test(test_node__no_id_is_that_of_the_root_or_none),
        cmocka_unit_test(test_node__ids_tell_neither_addresses_nor_how_many_lie_between),
        cmocka_unit_test(test_node__another_process_has_other_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
