/* A way that goes on from the one before leads to what the kernel finds by the whole path. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/files/way.h"
#include "tests/lib/scratch.h"

enum { DEEP = 600 };

static char root[64];
static size_t n_root, n_steps;

static int set_up(void **state)
{
    (void)state;
    scratch_make(root);
    n_root = strlen(root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(root);
    return 0;
}

/* ROOT/d/d/d/... of n directories, and what follows them. */
static const char *deep_path(unsigned n, const char *rest)
{
    static char path[4096];
    char *to = stpcpy(stpcpy(path, root), "/");
    for (unsigned i = 0; i < n; i++)
        to = stpcpy(to, "d/");
    strcpy(to, rest);
    return path;
}

static void make_directories(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        assert_int_equal(mkdir(deep_path(i, "d"), 0700), 0);
}

static ino_t number_of(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    return st.st_ino;
}

static int keep(struct way *way, int fd)
{
    return way_keep(way, fd < 0 ? -errno : fd, fd < 0 ? 0 : number_of(fd));
}

/* The number of what is found, or how it failed. */
static int64_t find(struct way *way, const char *path, size_t n_first)
{
    char first[4096];
    int r = way_turn(way, path, n_first);
    if (r == 0 && !way->n_kept) {
        snprintf(first, sizeof(first), "%.*s", (int)n_first, path);
        r = keep(way, open(*first ? first : "/", O_PATH | O_CLOEXEC));
    }
    for (; r == 0 && (r = way_next(way)) > 0; n_steps++)
        r = keep(way, openat(way_last(way)->fd, way->name, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (r < 0)
        return r;
    assert_in_range(way->n_kept, 1, WAY_KEPT);
    for (size_t i = 0; i < way->n_kept; i++)
        assert_int_equal(way->kept[i].mark, number_of(way->kept[i].fd));
    _cleanup_close_ int fd = openat(way_last(way)->fd, way->name, O_PATH | O_CLOEXEC);
    return fd < 0 ? -errno : (int64_t)number_of(fd);
}

static void expect_as_ever(struct way *way, const char *path, size_t n_first)
{
    struct stat st;
    int64_t expected = stat(path, &st) < 0 ? -errno : (int64_t)st.st_ino;
    assert_int_equal(find(way, path, n_first), expected);
}

static void test_way__leads_where_the_whole_path_leads(void **state)
{
    (void)state;
    struct way way = {0};
    unsigned seed = 7;
    char whole[128];
    make_directories(DEEP);
    snprintf(whole, sizeof(whole), "%s/d//d/d/", root);
    for (unsigned i = 0; i < DEEP; i += 50)
        scratch_write(deep_path(i, "f"), "");
    for (unsigned round = 0; round < 200; round++) {
        const unsigned n = (unsigned)rand_r(&seed) % (DEEP + 1);
        switch (rand_r(&seed) % 7) {
        case 0: expect_as_ever(&way, deep_path(n / 50 * 50, "f"), n_root); break;
        case 1: expect_as_ever(&way, deep_path(n / 50 * 50, "f/f"), n_root); break;
        case 2: expect_as_ever(&way, deep_path(n, "missing/f"), n_root); break;
        case 3: expect_as_ever(&way, deep_path(n, "d"), n_root + n / 2 * 2); break;
        case 4: expect_as_ever(&way, whole, 0); break;
        default: expect_as_ever(&way, deep_path(n, "d"), n_root); break;
        }
    }
    way_done(&way);
}

/* The directories above the last that is kept are not walked again; moved away, they would not be
 * found. */
static void test_way__begins_at_what_it_has_in_common(void **state)
{
    (void)state;
    static const unsigned above[] = {0, 1, 2, 3, 10, 100, 250};
    make_directories(DEEP);
    scratch_write(deep_path(DEEP, "f"), "");
    for (size_t i = 0; i < sizeof(above) / sizeof(above[0]); i++) {
        struct way way = {0};
        const unsigned n = DEEP - above[i], moved = DEEP - 2 * above[i] - 2;
        scratch_write(deep_path(n, "g"), "");
        assert_true(find(&way, deep_path(DEEP, "f"), n_root) > 0);
        assert_in_range(way.n_kept, 10, 14);
        _cleanup_free_ char *from = strdup(deep_path(moved, "d"));
        assert_int_equal(rename(from, scratch_path(root, "away")), 0);
        assert_true(find(&way, deep_path(n, "g"), n_root) > 0);
        assert_int_equal(find(&way, deep_path(moved, "other/f"), n_root), -ENOENT);
        assert_int_equal(find(&way, deep_path(n, "g"), n_root), -ENOENT);
        assert_int_equal(rename(scratch_path(root, "away"), from), 0);
        expect_as_ever(&way, deep_path(n, "g"), n_root);
        way_done(&way);
    }
}

/* Each from the first one would take 300 in the mean. */
static void test_way__takes_few_steps_to_each_directory_from_the_deepest_up(void **state)
{
    (void)state;
    struct way way = {0};
    make_directories(DEEP);
    n_steps = 0;
    for (unsigned n = DEEP; n > 0; n--)
        expect_as_ever(&way, deep_path(n, "."), n_root);
    assert_in_range(n_steps, DEEP, 5 * DEEP);
    way_done(&way);
}

static void test_way__a_name_that_is_too_long_is_no_step(void **state)
{
    (void)state;
    struct way way = {0};
    char name[NAME_MAX + 2];
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(find(&way, deep_path(0, name), n_root), -ENAMETOOLONG);
    strcpy(name + NAME_MAX - 2, "/f");
    assert_int_equal(find(&way, deep_path(0, name), n_root), -ENOENT);
    way_done(&way);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_way__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(leads_where_the_whole_path_leads),
        TEST(begins_at_what_it_has_in_common),
        TEST(takes_few_steps_to_each_directory_from_the_deepest_up),
        TEST(a_name_that_is_too_long_is_no_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
