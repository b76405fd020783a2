/* That a directory can be listed is believed for a moment; no link is followed. */
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

enum { LONG_MS = 1000000 };

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
    if (tree->root_fd < 0 || mkdirat(tree->root_fd, "d", 0755) < 0 ||
        mkdirat(tree->root_fd, "d/d", 0755) < 0)
        return -1;
    scratch_write(scratch_path(tree->path, "d/d/file"), "document");
    return 0;
}

static int tear_down(void **state)
{
    struct tree *tree = *state;
    close(tree->root_fd);
    scratch_remove(tree->path);
    free(tree);
    return 0;
}

/* The number of what is found, or how it failed. */
static int64_t find(struct listed_way *way, const struct tree *tree, const char *path)
{
    struct stat st;
    _cleanup_close_ int fd = listed_way_open(way, NULL, tree->root_fd, path);
    if (fd < 0)
        return fd;
    assert_int_equal(fstat(fd, &st), 0);
    return (int64_t)st.st_ino;
}

/* Moved away, what is walked again is not found. */
static void test_listed_way__is_believed_for_a_moment(void **state)
{
    const struct tree *tree = *state;
    struct listed_way way = {0};
    struct stat st;
    assert_int_equal(fstatat(tree->root_fd, "d/d/file", &st, 0), 0);
    assert_int_equal(find(&way, tree, "d/d/file"), st.st_ino);
    way.since_ms += LONG_MS;
    assert_int_equal(renameat(tree->root_fd, "d", tree->root_fd, "away"), 0);
    assert_int_equal(find(&way, tree, "d/d/file"), st.st_ino);
    assert_int_equal(find(&way, tree, "d/d/other"), -ENOENT);
    way.since_ms -= 2 * LONG_MS; /* it is too old to be believed */
    assert_int_equal(find(&way, tree, "d/d/file"), -ENOENT);
    assert_int_equal(renameat(tree->root_fd, "away", tree->root_fd, "d"), 0);
    assert_int_equal(find(&way, tree, "d/d/file"), st.st_ino);
    listed_way_done(&way);
}

static void test_listed_way__follows_no_link_and_leads_nowhere_else(void **state)
{
    const struct tree *tree = *state;
    struct listed_way way = {0};
    char too_long[300];
    memset(too_long, 'x', sizeof(too_long));
    memcpy(too_long + sizeof(too_long) - 3, "/y", 3);
    scratch_write(scratch_path(tree->path, "file"), "document");
    assert_int_equal(symlinkat("d", tree->root_fd, "link"), 0);
    assert_true(find(&way, tree, "file") > 0);
    assert_int_equal(find(&way, tree, "link/d/file"), -ENOTDIR);
    assert_int_equal(find(&way, tree, "../file"), -EXDEV);
    assert_int_equal(find(&way, tree, "d/../../file"), -EXDEV);
    assert_int_equal(find(&way, tree, too_long), -ENAMETOOLONG);
    assert_true(find(&way, tree, "d/d/file") > 0);
    listed_way_done(&way);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_listed_way__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(is_believed_for_a_moment),
        TEST(follows_no_link_and_leads_nowhere_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
