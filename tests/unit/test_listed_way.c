/* A way that is kept leads to the same as one that begins at the root. */
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
#include "fs/callers/listed_way.h"
#include "tests/lib/scratch.h"

enum { DEEP = 600, LONG_MS = 1000000 };

struct tree {
    char path[64];
    int root_fd;
};

static int set_up(void **state)
{
    struct tree *tree = calloc(1, sizeof(*tree));
    scratch_make(tree->path);
    tree->root_fd = open(tree->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *state = tree;
    return tree->root_fd < 0;
}

static int tear_down(void **state)
{
    struct tree *tree = *state;
    close(tree->root_fd);
    scratch_remove(tree->path);
    free(tree);
    return 0;
}

/* d/d/d/... of n directories, and what follows them. */
static const char *deep_path(unsigned n, const char *rest)
{
    static char path[4096];
    for (unsigned i = 0; i < n; i++)
        memcpy(path + 2 * i, "d/", 2);
    strcpy(path + 2 * n, rest);
    return path;
}

static void make_directories(const struct tree *tree, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(mkdirat(tree->root_fd, deep_path(i, "d"), 0755), 0);
}

static ino_t number_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

/* By the way that is kept and by a new one: what both find, or how both fail. */
static int expect_same(struct listed_way *way, const struct tree *tree, const char *path)
{
    struct listed_way fresh = {0};
    const char *name, *fresh_name;
    int found = listed_way_open(way, NULL, tree->root_fd, path, &name);
    int expected = listed_way_open(&fresh, NULL, tree->root_fd, path, &fresh_name);
    if (expected < 0)
        assert_int_equal(found, expected);
    else
        assert_int_equal(number_of(found), number_of(expected));
    assert_ptr_equal(name, fresh_name);
    assert_in_range(way->n_kept, 0, LISTED_WAY_KEPT);
    listed_way_done(&fresh);
    return expected;
}

static void test_listed_way__leads_where_a_new_one_leads(void **state)
{
    const struct tree *tree = *state;
    struct listed_way way = {0};
    unsigned seed = 7;
    make_directories(tree, DEEP);
    for (unsigned i = 0; i < DEEP; i += 50)
        assert_int_equal(mkdirat(tree->root_fd, deep_path(i, "dd"), 0755), 0);
    for (unsigned round = 0; round < 500; round++) {
        const unsigned n = (unsigned)rand_r(&seed) % (DEEP + 1);
        switch (rand_r(&seed) % 4) {
        case 0: expect_same(&way, tree, deep_path(n / 50 * 50, "dd/file")); break;
        case 1: expect_same(&way, tree, deep_path(n, "missing/file")); break;
        default: expect_same(&way, tree, deep_path(n, "file")); break;
        }
    }
    listed_way_done(&way);
}

/* The directories above the last that is kept are not walked again; moved away, they would not be
 * found. */
static void test_listed_way__begins_at_what_it_has_in_common(void **state)
{
    const struct tree *tree = *state;
    struct listed_way way = {0};
    const char *name;
    make_directories(tree, DEEP);
    assert_int_equal(mkdirat(tree->root_fd, deep_path(DEEP - 4, "other"), 0755), 0);
    assert_true(listed_way_open(&way, NULL, tree->root_fd, deep_path(DEEP, "file"), &name) >= 0);
    assert_in_range(way.n_kept, 10, 14);
    way.since_ms += LONG_MS;
    assert_int_equal(renameat(tree->root_fd, "d", tree->root_fd, "away"), 0);
    assert_true(listed_way_open(&way, NULL, tree->root_fd, deep_path(DEEP, "file2"), &name) >= 0);
    assert_string_equal(name, "file2");
    assert_true(listed_way_open(&way, NULL, tree->root_fd, deep_path(DEEP - 4, "other/x"), &name) >=
                0);
    assert_int_equal(listed_way_open(&way, NULL, tree->root_fd, deep_path(3, "dd/x"), &name),
                     -ENOENT);
    way.since_ms -= 2 * LONG_MS; /* it is too old to be believed */
    assert_int_equal(listed_way_open(&way, NULL, tree->root_fd, deep_path(DEEP, "file"), &name),
                     -ENOENT);
    assert_int_equal(renameat(tree->root_fd, "away", tree->root_fd, "d"), 0);
    assert_true(listed_way_open(&way, NULL, tree->root_fd, deep_path(DEEP, "file"), &name) >= 0);
    listed_way_done(&way);
}

static void test_listed_way__follows_no_link_and_leads_nowhere_else(void **state)
{
    const struct tree *tree = *state;
    struct listed_way way = {0};
    char too_long[300];
    memset(too_long, 'x', sizeof(too_long));
    memcpy(too_long + sizeof(too_long) - 3, "/y", 3);
    make_directories(tree, 2);
    assert_int_equal(symlinkat("d", tree->root_fd, "link"), 0);
    assert_true(expect_same(&way, tree, "file") >= 0);
    assert_int_equal(expect_same(&way, tree, "link/file"), -ENOTDIR);
    assert_int_equal(expect_same(&way, tree, "../file"), -EXDEV);
    assert_int_equal(expect_same(&way, tree, "d/../../file"), -EXDEV);
    assert_int_equal(expect_same(&way, tree, too_long), -ENAMETOOLONG);
    assert_true(expect_same(&way, tree, "d/d/file") >= 0);
    listed_way_done(&way);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_listed_way__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(leads_where_a_new_one_leads),
        TEST(begins_at_what_it_has_in_common),
        TEST(follows_no_link_and_leads_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
