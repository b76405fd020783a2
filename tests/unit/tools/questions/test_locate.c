#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "tools/questions/holder.h"
#include "tools/questions/locate.h"
#include "tests/unit/tools/state_scratch.h"

static void assert_name(const char *source, const char *expected)
{
    _cleanup_free_ char *name = location_store_name(source);
    assert_string_equal(name, expected);
}

static void test_locate__store_names_can_be_read(void **state)
{
    (void)state;
    assert_name("/usr/share/doc", "usr-share-doc");
    assert_name("/home/me/my files", "home-me-my%20files");
    assert_name("/a-b", "a%2db");
    assert_name("/", "-");
    assert_name("/.hidden/x.d", "%2ehidden-x.d");
}

static void test_locate__different_sources_have_different_stores(void **state)
{
    (void)state;
    char long_a[600], long_b[600];
    memset(long_a, 'x', sizeof(long_a));
    long_a[0] = '/';
    long_a[sizeof(long_a) - 1] = '\0';
    strcpy(long_b, long_a);
    long_b[sizeof(long_b) - 2] = 'y';
    const char *sources[] = {"/", "/-", "/a/b", "/a-b", "/a%2fb", "/a%2db", "/a b", long_a, long_b};
    size_t n = sizeof(sources) / sizeof(sources[0]);
    for (size_t i = 0; i < n; i++) {
        _cleanup_free_ char *one = location_store_name(sources[i]);
        assert_true(strlen(one) <= 240);
        assert_null(strchr(one, '/'));
        for (size_t j = 0; j < i; j++) {
            _cleanup_free_ char *other = location_store_name(sources[j]);
            assert_string_not_equal(one, other);
        }
    }
}

static void test_locate__a_path_in_a_source_finds_the_default_store(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *store = NULL, *error = NULL;
    _cleanup_free_ char *file = message("%s/a/../a/b.txt", scratch->tree);
    assert_int_equal(locate(file, NULL, &location, &error), -ENOENT);
    assert_non_null(strstr(error, "kinfs scan"));

    assert_int_equal(location_default_store(scratch->tree, &store, NULL), 0);
    mkdir(store, 0700);
    assert_int_equal(locate(file, NULL, &location, NULL), 0);
    assert_string_equal(location.store, store);
    assert_string_equal(location.source, scratch->tree);
    assert_string_equal(location.base, scratch->tree);
    assert_string_equal(location.path, "a/b.txt");

    location_done(&location);
    assert_int_equal(locate(scratch->tree, NULL, &location, NULL), 0);
    assert_string_equal(location.path, "");
}

static void test_locate__the_nearest_tree_wins(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *inner = message("%s/a", scratch->tree), *store = NULL;
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    assert_int_equal(location_default_store(inner, &store, NULL), 0);
    mkdir(store, 0700);
    assert_int_equal(locate(file, NULL, &location, NULL), 0);
    assert_string_equal(location.source, inner);
    assert_string_equal(location.path, "b.txt");
    rmdir(store);
}

static void test_locate__a_store_says_whose_it_is(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(location_done) struct location location = {0};
    _cleanup_free_ char *store = message("%s/elsewhere", scratch->root), *error = NULL;
    _cleanup_free_ char *file = message("%s/a/b.txt", scratch->tree);
    assert_int_equal(locate(NULL, store, &location, &error), -ENOENT);
    free(TAKE_PTR(error));

    mkdir(store, 0700);
    int fd = -1;
    assert_int_equal(holder_hold(store, "scan", scratch->tree, NULL, &fd), 0);
    assert_int_equal(locate(file, store, &location, NULL), 0);
    assert_string_equal(location.source, scratch->tree);
    assert_string_equal(location.path, "a/b.txt");
    location_done(&location);

    assert_int_equal(locate(NULL, store, &location, NULL), 0);
    assert_null(location.path);
    location_done(&location);
    assert_int_equal(locate(scratch->state, store, &location, &error), -ENOENT);

    struct holder holder;
    assert_int_equal(holder_read(store, &holder), 0);
    assert_true(holder.alive);
    assert_int_equal(holder.pid, getpid());
    holder_done(&holder);
    assert_int_equal(holder_wait(store, 0), -ETIMEDOUT);
    close(fd);
    assert_int_equal(holder_wait(store, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_locate__store_names_can_be_read),
        cmocka_unit_test(test_locate__different_sources_have_different_stores),
        cmocka_unit_test(test_locate__a_path_in_a_source_finds_the_default_store),
        cmocka_unit_test(test_locate__the_nearest_tree_wins),
        cmocka_unit_test(test_locate__a_store_says_whose_it_is),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
