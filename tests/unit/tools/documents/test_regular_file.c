#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tools/documents/regular_file.h"

static char directory[] = "/tmp/kinfs-test.XXXXXX";

static void make_file(const char *name)
{
    _cleanup_close_ int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
}

static int set_up(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/kinfs-test.XXXXXX");
    if (!mkdtemp(directory) || chdir(directory) < 0 || mkdir("tree", 0700) < 0 ||
        mkdir("tree/d", 0700) < 0 || mkdir("secret", 0700) < 0 || symlink("tree", "named") < 0)
        return -1;
    make_file("tree/d/f");
    make_file("secret/f");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    const char *names[] = {"tree/d/f", "tree/d",   "tree/d.old/f", "tree/d.old",
                           "tree",     "secret/f", "secret",       "named"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        remove(names[i]);
    return chdir("/") < 0 ? -1 : rmdir(directory);
}

/* What a walk of the directory `named`, a link, finds by a path. */
static struct document found_by(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (struct document){
        .path.n_named = (uint32_t)strlen("named"), .dev = st.st_dev, .ino = st.st_ino};
}

static int open_found(const struct document *found)
{
    struct place_way way = {0};
    struct document document = *found;
    char path[] = "named/d/f";
    document.path.directory = UINT32_MAX; /* all of it is a name */
    const struct document_list list = {.documents = &document, .n = 1, .paths.text = path};
    int fd = regular_file_open_found(&list, 0, &way);
    place_way_done(&way);
    return fd < 0 ? fd : close(fd);
}

static void test_regular_file__a_link_that_is_named_is_followed(void **state)
{
    (void)state;
    const struct document found = found_by("named/d/f"),
                          given = {.path.n_named = (uint32_t)strlen("named/d/f")};
    assert_int_equal(open_found(&found), 0);
    assert_int_equal(open_found(&given), 0);
}

static void test_regular_file__a_link_in_the_place_of_what_was_found_is_not(void **state)
{
    (void)state;
    const struct document found = found_by("named/d/f");
    assert_int_equal(rename("tree/d/f", "tree/d.old"), 0);
    assert_int_equal(open_found(&found), -ENOENT);
    assert_int_equal(symlink("../../secret/f", "tree/d/f"), 0);
    assert_int_equal(open_found(&found), -ESTALE);
}

static void test_regular_file__nor_is_one_in_the_place_of_a_directory(void **state)
{
    (void)state;
    const struct document found = found_by("named/d/f"), hidden = found_by("secret/f");
    assert_int_equal(rename("tree/d", "tree/d.old"), 0);
    assert_int_equal(symlink("../secret", "tree/d"), 0);
    assert_int_equal(open_found(&found), -ESTALE);
    assert_int_equal(open_found(&hidden), -ESTALE);
}

static void test_regular_file__another_file_is_not_what_was_found(void **state)
{
    (void)state;
    const struct document found = found_by("named/d/f");
    assert_int_equal(rename("secret/f", "tree/d/f"), 0);
    assert_int_equal(open_found(&found), -ESTALE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_regular_file__##name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_link_that_is_named_is_followed),
        TEST(a_link_in_the_place_of_what_was_found_is_not),
        TEST(nor_is_one_in_the_place_of_a_directory),
        TEST(another_file_is_not_what_was_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
