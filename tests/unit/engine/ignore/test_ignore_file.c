/* Which ignore files count, and how much of them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "engine/ignore/ignore_file.h"
#include "tests/lib/scratch.h"

enum { USER = 54321, OTHER = 54322 };

struct fixture {
    char root[64];
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    scratch_make(f->root);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    scratch_remove(f->root);
    free(f);
    return 0;
}

/* The result, and whether there are rules. */
static int read_file(struct fixture *f, bool *ret_any)
{
    _cleanup_close_ int fd = open(f->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct ignore_rules *rules;
    assert_true(fd >= 0);
    int r = ignore_file_read(fd, &rules);
    *ret_any = rules && ignore_rules_any(rules);
    ignore_rules_free(rules);
    return r;
}

static void test_ignore_file__is_the_directory_owners_alone(void **state)
{
    struct fixture *f = *state;
    static const struct {
        uid_t directory, file;
        mode_t mode, of_directory;
        bool counts;
    } cases[] = {
        {USER, USER, 0644, 0755, true},   {USER, USER, 0640, 0755, false},
        {USER, USER, 0604, 0755, false},  {USER, 0, 0644, 0755, false},
        {USER, OTHER, 0644, 0755, false}, {0, USER, 0644, 0755, false},
        {0, 0, 0444, 0555, true},         {USER, USER, 0644, 0775, false},
        {USER, USER, 0644, 0757, false},  {USER, USER, 0644, 01777, false},
        {USER, USER, 0664, 0755, false},  {USER, USER, 0646, 0755, false},
    };
    if (geteuid() != 0)
        skip();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool any;
        const char *file = scratch_path(f->root, IGNORE_FILE);
        scratch_write(file, "a\n");
        assert_int_equal(chown(f->root, cases[i].directory, 0), 0);
        assert_int_equal(chown(file, cases[i].file, 0), 0);
        assert_int_equal(chmod(file, cases[i].mode), 0);
        assert_int_equal(chmod(f->root, cases[i].of_directory), 0);
        assert_int_equal(read_file(f, &any), cases[i].counts ? 0 : -EPERM);
        assert_int_equal(any, cases[i].counts);
    }
}

static void test_ignore_file__has_one_name(void **state)
{
    struct fixture *f = *state;
    bool any;
    scratch_write(scratch_path(f->root, "other"), "a\n");
    const char *other = strdup(scratch_path(f->root, "other"));
    assert_int_equal(link(other, scratch_path(f->root, IGNORE_FILE)), 0);
    assert_int_equal(read_file(f, &any), -EPERM);
    assert_int_equal(unlink(other), 0);
    free((char *)other);
    assert_int_equal(read_file(f, &any), 0);
    assert_true(any);
}

static void test_ignore_file__is_a_regular_file(void **state)
{
    struct fixture *f = *state;
    bool any;
    const char *file = scratch_path(f->root, IGNORE_FILE);
    assert_int_equal(read_file(f, &any), 0);
    assert_false(any);
    assert_int_equal(mkfifo(file, 0644), 0); /* whose reader would wait for a writer */
    assert_int_equal(read_file(f, &any), -EPERM);
    assert_int_equal(unlink(file), 0);
    scratch_write(scratch_path(f->root, "lines"), "a\n");
    file = scratch_path(f->root, IGNORE_FILE);
    assert_int_equal(symlink("lines", file), 0);
    assert_int_equal(read_file(f, &any), -EPERM);
    assert_false(any);
}

/* Whether a name is left out by a file of so many lines before "a". */
static bool leaves_out(struct fixture *f, const char *line, size_t n, int expected)
{
    _cleanup_close_ int fd = open(f->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct ignore_rules *rules;
    size_t steps = IGNORE_STEPS;
    _cleanup_free_ char *text = malloc(n * strlen(line) + 3);
    for (size_t i = 0; i < n; i++)
        memcpy(text + i * strlen(line), line, strlen(line));
    memcpy(text + n * strlen(line), "a\n", 3);
    scratch_write(scratch_path(f->root, IGNORE_FILE), text);
    assert_int_equal(ignore_file_read(fd, &rules), expected);
    const bool out = ignore_rules_ask(rules, "a", false, &steps) == IGNORE_OUT;
    ignore_rules_free(rules);
    return out;
}

static void test_ignore_file__counts_as_far_as_its_bounds(void **state)
{
    struct fixture *f = *state;
    assert_true(leaves_out(f, "b\n", IGNORE_LINES_MAX - 1, 0));
    assert_false(leaves_out(f, "b\n", IGNORE_LINES_MAX, -E2BIG));
    assert_true(leaves_out(f, "#\n", IGNORE_BYTES_MAX / 2 - 1, 0));
    assert_false(leaves_out(f, "#\n", IGNORE_BYTES_MAX / 2, -E2BIG));
}

static void test_ignore_file__nearest_level_decides(void **state)
{
    (void)state;
    struct ignore_rules *list = ignore_rules_new(), *defaults = ignore_defaults();
    struct ignore_level top = {NULL, ignore_rules_new(), 0}, low = {&top, ignore_rules_new(), 2};
    assert_int_equal(ignore_rules_add_text(top.rules, "*.txt\nb\n*ignore\n", 16), 0);
    assert_int_equal(ignore_rules_add_text(low.rules, "!b.txt\n/c\n!.git\n", 16), 0);
    assert_int_equal(ignore_rules_add_text(list, "d\n!e~\n", 6), 0);
    static const struct {
        const char *path;
        bool out;
    } cases[] = {
        {"x/a.txt", true},         {"x/b.txt", false}, {"x/b", true},   {"x/c", true},
        {"x/y/c", false},          {"x/d", true},      {"x/e~", false}, {"x/f~", true},
        {"x/.git", false},         {"x/.svn", true},   {"x/y/d", true}, {"x/g", false},
        {"x/.kinfsignore", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (ignore_leaves_out(list, &low, defaults, cases[i].path, true) != cases[i].out)
            fail_msg("%s", cases[i].path);
    ignore_rules_free(list);
    ignore_rules_free(defaults);
    ignore_rules_free(top.rules);
    ignore_rules_free(low.rules);
}

int main(void)
{
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_ignore_file__is_the_directory_owners_alone),
        IN_SCRATCH(test_ignore_file__has_one_name),
        IN_SCRATCH(test_ignore_file__is_a_regular_file),
        IN_SCRATCH(test_ignore_file__counts_as_far_as_its_bounds),
        cmocka_unit_test(test_ignore_file__nearest_level_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
