#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <sys/stat.h>

#include "tools/questions/tree_paths.h"
#include "tests/unit/tools/state_scratch.h"

/* A location whose tree is there by two names: seen in the mount's place, and in the source. */
static struct location location_of(struct scratch *scratch, const char *path)
{
    return (struct location){.store = scratch->state,
                             .source = scratch->tree,
                             .base = scratch->tree,
                             .path = (char *)path};
}

static char *by_looking(struct tree_paths *paths, const char *path)
{
    char *looked = NULL;
    assert_int_equal(tree_paths_by_looking(paths, &path, 1, &looked), 0);
    return looked;
}

static void assert_both(struct tree_paths *paths, const char *path, const char *expected)
{
    _cleanup_free_ char *by_name = tree_paths_by_name(paths, path);
    _cleanup_free_ char *looked = by_looking(paths, path);
    if (!expected) {
        assert_null(by_name);
        assert_null(looked);
        return;
    }
    assert_string_equal(by_name, expected);
    assert_string_equal(looked, expected);
}

static void test_tree_paths__names_say_what_looking_says(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(tree_paths_done) struct tree_paths paths = {0};
    _cleanup_free_ char *before = getcwd(NULL, 0), *beside = message("%s beside", scratch->tree);
    const struct location at = location_of(scratch, "");
    assert_int_equal(mkdir(beside, 0700), 0);
    assert_int_equal(chdir(scratch->tree), 0);
    assert_int_equal(tree_paths_init(&at, NULL, &paths), 0);
    assert_both(&paths, "a/b.txt", "a/b.txt");
    assert_both(&paths, ".//./a///./b.txt", "a/b.txt");
    assert_both(&paths, "a/", "a");
    assert_both(&paths, ".", "");
    assert_both(&paths, beside, NULL);
    assert_both(&paths, "/", NULL);
    assert_both(&paths, "", NULL);
    _cleanup_free_ char *whole = message("//%s/./a/b.txt", scratch->tree + 1);
    assert_both(&paths, whole, "a/b.txt");
    assert_int_equal(chdir(before), 0);
}

static void test_tree_paths__links_and_what_is_above_take_looking(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(tree_paths_done) struct tree_paths paths = {0};
    const struct location at = location_of(scratch, "");
    _cleanup_free_ char *inner = message("%s/link", scratch->tree), *by_name = NULL, *looked = NULL;
    _cleanup_free_ char *outer = message("%s/way", scratch->root), *by_way = NULL, *followed = NULL;
    _cleanup_free_ char *target = message("%s/a", scratch->tree);
    _cleanup_free_ char *through = message("%s/b.txt", outer), *up = NULL, *up_path = NULL;
    assert_int_equal(symlink("a/b.txt", inner), 0);
    assert_int_equal(symlink(target, outer), 0);
    assert_int_equal(tree_paths_init(&at, scratch->tree, &paths), 0);
    by_name = tree_paths_by_name(&paths, inner);
    looked = by_looking(&paths, inner);
    assert_string_equal(by_name, "link");
    assert_string_equal(looked, "a/b.txt");
    by_way = tree_paths_by_name(&paths, through);
    followed = by_looking(&paths, through);
    assert_null(by_way);
    assert_string_equal(followed, "a/b.txt");
    up = message("%s/a/../a/b.txt", scratch->tree);
    assert_null(tree_paths_by_name(&paths, up));
    up_path = by_looking(&paths, up);
    assert_string_equal(up_path, "a/b.txt");
    /* ".." behind a link is not the directory before it. */
    _cleanup_free_ char *behind = message("%s/way/..", scratch->root);
    _cleanup_free_ char *root = by_looking(&paths, behind);
    assert_string_equal(root, "");
}

/* A bind mount of a directory: the base is that directory, as path says. */
static void test_tree_paths__a_part_that_is_mounted_elsewhere_has_the_rest_in_front(void **state)
{
    struct scratch *scratch = *state;
    _cleanup_(tree_paths_done) struct tree_paths paths = {0};
    _cleanup_free_ char *bound = message("%s/bound", scratch->root), *below = NULL, *file = NULL;
    struct location at = location_of(scratch, "far/down/sub");
    at.base = bound;
    below = message("%s/sub", bound);
    file = message("%s/sub/x", bound);
    assert_int_equal(mkdir(bound, 0700), 0);
    assert_int_equal(mkdir(below, 0700), 0);
    assert_int_equal(tree_paths_init(&at, below, &paths), 0);
    _cleanup_free_ char *inside = tree_paths_by_name(&paths, file);
    assert_string_equal(inside, "far/down/sub/x");
    _cleanup_free_ char *itself = tree_paths_by_name(&paths, bound);
    assert_string_equal(itself, "far/down");
    _cleanup_free_ char *source = message("%s/a/b.txt", scratch->tree);
    _cleanup_free_ char *of_source = tree_paths_by_name(&paths, source);
    assert_string_equal(of_source, "a/b.txt");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tree_paths__names_say_what_looking_says, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_tree_paths__links_and_what_is_above_take_looking,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_tree_paths__a_part_that_is_mounted_elsewhere_has_the_rest_in_front, set_up,
            tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
