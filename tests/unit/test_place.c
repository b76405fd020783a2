/* A way that is kept leads to the same as one that begins at what was named. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/documents/place.h"

enum { DEEP = 600 };

static char root[64];

static int set_up(void **state)
{
    (void)state;
    scratch_make(root);
    return chdir(root);
}

static int tear_down(void **state)
{
    (void)state;
    int r = chdir("/");
    scratch_remove(root);
    return r;
}

/* tree/d/d/d/... of n directories, and what follows them. */
static const char *deep_path(unsigned n, const char *rest)
{
    static char path[8192];
    char *to = stpcpy(path, "tree/");
    for (unsigned i = 0; i < n; i++)
        to = stpcpy(to, "d/");
    strcpy(to, rest);
    return path;
}

static const uint32_t n_named = sizeof("tree") - 1;

static void make_directories(unsigned n)
{
    assert_int_equal(mkdir("tree", 0700), 0);
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(mkdir(deep_path(i, "d"), 0700), 0);
}

/* The number of what is found, or how it failed. */
static int64_t find(struct place_way *way, const char *path, uint32_t n)
{
    struct stat st;
    _cleanup_close_ int fd = place_open(way, path, n);
    if (fd < 0)
        return fd;
    assert_int_equal(fstat(fd, &st), 0);
    return (int64_t)st.st_ino;
}

static int64_t expect_same_of(struct place_way *way, const char *path, uint32_t n)
{
    struct place_way fresh = {0};
    int64_t found = find(way, path, n), expected = find(&fresh, path, n);
    assert_int_equal(found, expected);
    assert_in_range(way->n_kept, 0, PLACE_WAY_KEPT);
    place_way_done(&fresh);
    return expected;
}

static int64_t expect_same(struct place_way *way, const char *path)
{
    return expect_same_of(way, path, n_named);
}

static void test_place__leads_where_a_new_way_leads(void **state)
{
    (void)state;
    struct place_way way = {0};
    unsigned seed = 7;
    char *whole;
    make_directories(DEEP);
    assert_true(asprintf(&whole, "%s/tree/d//d/d/", root) > 0);
    for (unsigned i = 0; i < DEEP; i += 50)
        scratch_write(deep_path(i, "f"), "document");
    for (unsigned round = 0; round < 500; round++) {
        const unsigned n = (unsigned)rand_r(&seed) % (DEEP + 1);
        switch (rand_r(&seed) % 7) {
        case 0: expect_same(&way, deep_path(n / 50 * 50, "f")); break;
        case 1: expect_same(&way, deep_path(n / 50 * 50, "f/f")); break;
        case 2: expect_same(&way, deep_path(n, "missing/f")); break;
        case 3: expect_same_of(&way, deep_path(n, ""), (uint32_t)(n_named + n / 2 * 2)); break;
        case 4: expect_same_of(&way, whole, 0); break;
        default: expect_same(&way, deep_path(n, "d")); break;
        }
    }
    free(whole);
    place_way_done(&way);
}

/* The directories above the last that is kept are not walked again; moved away, they would not be
 * found. */
static void test_place__begins_at_what_it_has_in_common(void **state)
{
    (void)state;
    static const unsigned above[] = {0, 1, 2, 3, 10, 100, 250};
    make_directories(DEEP);
    scratch_write(deep_path(DEEP, "f"), "document");
    for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
        struct place_way way = {0};
        const unsigned n = DEEP - above[i];
        scratch_write(deep_path(n, "g"), "document");
        assert_true(find(&way, deep_path(DEEP, "f"), n_named) > 0);
        assert_in_range(way.n_kept, 10, 14);
        char *moved = strdup(deep_path(DEEP - 2 * above[i] - 2, "d"));
        assert_int_equal(rename(moved, "away"), 0);
        assert_true(find(&way, deep_path(n, "g"), n_named) > 0);
        assert_int_equal(find(&way, deep_path(DEEP - 2 * above[i] - 2, "other/f"), n_named),
                         -ENOENT);
        assert_int_equal(find(&way, deep_path(n, "g"), n_named), -ENOENT);
        assert_int_equal(rename("away", moved), 0);
        assert_true(expect_same(&way, deep_path(n, "g")) > 0);
        free(moved);
        place_way_done(&way);
    }
}

static void test_place__follows_no_link_but_what_was_named(void **state)
{
    (void)state;
    struct place_way way = {0};
    make_directories(2);
    scratch_write("tree/d/d/f", "document");
    assert_int_equal(symlink("tree", "named"), 0);
    assert_int_equal(symlink("d", "tree/link"), 0);
    assert_true(expect_same_of(&way, "named/d/d/f", 5) > 0);
    assert_int_equal(expect_same_of(&way, "named/link/d/f", 5), -ENOTDIR);
    assert_true(expect_same_of(&way, "named/link/d/f", 10) > 0);
    assert_int_equal(expect_same_of(&way, "named/d/d/f", 0), -ENOENT);
    place_way_done(&way);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_place__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(leads_where_a_new_way_leads),
        TEST(begins_at_what_it_has_in_common),
        TEST(follows_no_link_but_what_was_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
