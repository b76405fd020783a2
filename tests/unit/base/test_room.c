#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/room.h"

static void test_room__is_made_for_one_more_and_for_many(void **state)
{
    (void)state;
    uint32_t *items = NULL;
    size_t n = 0, room = 0, n_times = 0;
    for (; n < 1000; n++) {
        const size_t before = room;
        assert_true(MAKE_ROOM(items, room, n + 1));
        assert_true(room > n && (room == before || room >= 2 * before));
        n_times += room != before;
        items[n] = (uint32_t)n;
    }
    assert_in_range(n_times, 1, 7); /* 16, 32, ..., 1024 */
    assert_true(MAKE_ROOM(items, room, 5000));
    assert_int_equal(room, 5000);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(items[i], i);
    free(items);
}

static void *no_memory(void *array, size_t n, size_t item_bytes)
{
    (void)array;
    (void)n;
    (void)item_bytes;
    return NULL;
}
#define reallocarray no_memory

static void test_room__that_there_is_not_leaves_all_as_it_was(void **state)
{
    (void)state;
    uint32_t some[3], *items = some;
    size_t room = 3;
    assert_true(MAKE_ROOM(items, room, 3));
    assert_false(MAKE_ROOM(items, room, 4));
    assert_ptr_equal(items, some);
    assert_int_equal(room, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room__is_made_for_one_more_and_for_many),
        cmocka_unit_test(test_room__that_there_is_not_leaves_all_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
