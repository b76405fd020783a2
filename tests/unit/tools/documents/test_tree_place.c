/* A path of a tree leads to nothing above it, by no link and into no mount. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/documents/tree_place.h"

static void test_tree_place__has_names_alone(void **state)
{
    (void)state;
    static const char *const paths[] = {"a", "a/b", "...", ".a/b.", "..a", " ", "\xff/\n"};
    static const char *const others[] = {"",   "/",    "/a",   "a/",  "a//b", ".",
                                         "..", "a/..", "../a", "./a", "a/.",  "a/./b"};
    char longest[PATH_MAX + 1];
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_true(tree_place_is_path(paths[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(tree_place_is_path(others[i]));
    memset(longest, 'a', sizeof(longest));
    longest[PATH_MAX] = '\0';
    assert_false(tree_place_is_path(longest));
    longest[PATH_MAX - 1] = '\0';
    assert_true(tree_place_is_path(longest));
}

static void test_tree_place__opens_the_directory_by_no_link(void **state)
{
    const char *root = *state, *name = NULL;
    struct stat st, expected;
    assert_int_equal(mkdir(scratch_path(root, "d"), 0700), 0);
    assert_int_equal(mkdir(scratch_path(root, "d/e"), 0700), 0);
    assert_int_equal(symlink("d", scratch_path(root, "link")), 0);
    _cleanup_close_ int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    static const char path[] = "d/e/f";
    _cleanup_close_ int fd = tree_place_open_directory(root_fd, path, &name);
    assert_true(fd >= 0);
    assert_string_equal(name, "f");
    assert_ptr_equal(name, path + 4);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(stat(scratch_path(root, "d/e"), &expected), 0);
    assert_int_equal(st.st_ino, expected.st_ino);
    _cleanup_close_ int top_fd = tree_place_open_directory(root_fd, "f", &name);
    assert_int_equal(fstat(top_fd, &st), 0);
    assert_int_equal(stat(root, &expected), 0);
    assert_int_equal(st.st_ino, expected.st_ino);
    assert_string_equal(name, "f");
    assert_int_equal(tree_place_open_directory(root_fd, "link/e/f", &name), -ELOOP);
    assert_int_equal(tree_place_open_directory(root_fd, "d/none/f", &name), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_place__has_names_alone),
        cmocka_unit_test(test_tree_place__opens_the_directory_by_no_link),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
