/* What was named leads where it leads; below it no link does. */
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

static char root[64];

static int set_up(void **state)
{
    (void)state;
    scratch_make(root);
    if (chdir(root) < 0 || mkdir("tree", 0700) < 0 || mkdir("tree/d", 0700) < 0 ||
        mkdir("tree/d/d", 0700) < 0)
        return -1;
    scratch_write("tree/d/d/f", "document");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    int r = chdir("/");
    scratch_remove(root);
    return r;
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

static void test_place__leads_where_the_whole_path_leads(void **state)
{
    (void)state;
    struct place_way way = {0};
    struct stat st;
    static const char *const paths[] = {"tree/d/d/f", "tree//d///d/f", "tree/d/d", "tree/d/",
                                        "tree",       "tree/",         "/",        "/tmp/.."};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        const bool is_whole = *paths[i] == '/';
        assert_int_equal(stat(paths[i], &st), 0);
        assert_int_equal(find(&way, paths[i], is_whole ? 0 : sizeof("tree") - 1), st.st_ino);
        assert_int_equal(find(&way, scratch_path(is_whole ? "" : root, "%s", paths[i]), 0),
                         st.st_ino);
    }
    assert_int_equal(find(&way, "", 0), -ENOENT);
    place_way_done(&way);
}

static void test_place__follows_no_link_but_what_was_named(void **state)
{
    (void)state;
    struct place_way way = {0};
    assert_int_equal(symlink("tree", "named"), 0);
    assert_int_equal(symlink("d", "tree/link"), 0);
    assert_true(find(&way, "named/d/d/f", 5) > 0);
    assert_int_equal(find(&way, "named/link/d/f", 5), -ENOTDIR);
    assert_true(find(&way, "named/link/d/f", 10) > 0);
    assert_int_equal(find(&way, "named/d/d/f", 0), -ENOENT);
    place_way_done(&way);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_place__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(leads_where_the_whole_path_leads),
        TEST(follows_no_link_but_what_was_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
