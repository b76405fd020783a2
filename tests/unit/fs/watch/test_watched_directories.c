/* Watched directories are found by the number of their watch, however high, and take memory for as
 * many as there are. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>

#include "fs/watch/watched_directories.h"

enum { N_AT_ONCE = 100, N_IN_ALL = 1000000 };

static void put(struct watched_directories *directories, int watch_id)
{
    const struct file_key key = {.size_bytes = 12, .bytes = {(uint8_t)watch_id}};
    assert_int_equal(watched_directories_put(directories, watch_id, &key), 0);
}

static void test_watched_directories__are_found_by_their_watch(void **state)
{
    struct watched_directories directories = {0};
    (void)state;
    assert_null(watched_directories_find(&directories, 1));
    watched_directories_forget(&directories, 1);
    put(&directories, INT_MAX);
    for (int i = 1; i < N_AT_ONCE; i++)
        put(&directories, i);
    put(&directories, INT_MAX); /* again */
    assert_int_equal(directories.n, N_AT_ONCE);
    assert_int_equal(watched_directories_find(&directories, INT_MAX)->key.bytes[0], 0xff);
    for (int i = 1; i < N_AT_ONCE; i++)
        assert_int_equal(watched_directories_find(&directories, i)->key.bytes[0], i);
    watched_directories_forget(&directories, 3);
    assert_null(watched_directories_find(&directories, 3));
    assert_null(watched_directories_find(&directories, -1)); /* of an event that the queue lost */
    assert_non_null(watched_directories_find(&directories, 4));
    watched_directories_done(&directories);
}

static void test_watched_directories__take_room_for_those_there_are(void **state)
{
    struct watched_directories directories = {0};
    (void)state;
    for (int i = 0; i < N_IN_ALL; i++) {
        put(&directories, i);
        watched_directories_forget(&directories, i - N_AT_ONCE);
    }
    assert_int_equal(directories.n, N_AT_ONCE);
    assert_true(directories.n_buckets <= 2 * N_AT_ONCE);
    assert_int_equal(watched_directories_find(&directories, N_IN_ALL - 1)->watch_id, N_IN_ALL - 1);
    watched_directories_done(&directories);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_watched_directories__are_found_by_their_watch),
        cmocka_unit_test(test_watched_directories__take_room_for_those_there_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
