/* A document in a trash is known by the names on the way, by what the trash has of it, and by what
 * the trash of a run is, wherever that has been moved to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/lib/scratch.h"
#include "tools/commands/tidy/trash_way.h"

static void make_directory(const char *name)
{
    assert_int_equal(mkdir(scratch_path(scratch_group, "%s", name), 0700), 0);
}

static void put(const char *name)
{
    scratch_write(scratch_path(scratch_group, "%s", name), "words");
}

static int leads_in(const struct trash *trash, const char *path)
{
    _cleanup_(tidy_look_done) struct tidy_look look = TIDY_LOOK_NONE;
    _cleanup_close_ int tree_fd =
        open(scratch_path(scratch_group, "tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(tidy_look_open(tree_fd, path, &look), 0);
    return trash_way_leads_in(trash, tree_fd, path, &look);
}

static void test_trash_way__names_are_those_of_directories(void **state)
{
    (void)state;
    static const char *const in[] = {"Trash/x", ".Trash/1000/files/x", "a/.Trash-1000/x",
                                     "a/b/Trash/c/d"};
    static const char *const out[] = {"Trash",   "a/Trash",     ".Trash-1000", "Trashes/x",
                                      "trash/x", "a/.Trash-/x", "aTrash/x",    "Tras/h"};
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
        assert_true(trash_way_is_named(in[i]));
    for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
        assert_false(trash_way_is_named(out[i]));
    assert_true(trash_way_is_named_so("/home/a/.local/share/Trash"));
    assert_true(trash_way_is_named_so("/media/.Trash-1000/files"));
    assert_false(trash_way_is_named_so("/home/a/Trashes"));
    assert_false(trash_way_is_named_so("/"));
}

static void test_trash_way__of_a_run_is_where_its_trash_is_now(void **state)
{
    (void)state;
    struct trash trash = TRASH_NONE;
    make_directory("tree");
    make_directory("tree/a");
    make_directory("tree/a/deep");
    make_directory("bin");
    make_directory("bin/kept");
    put("tree/a/deep/x");
    put("bin/kept/y");
    trash.fd = open(scratch_path(scratch_group, "bin"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_true(trash.fd >= 0);
    assert_int_equal(leads_in(&trash, "a/deep/x"), 0);
    assert_int_equal(
        rename(scratch_path(scratch_group, "bin"), scratch_path(scratch_group, "tree/a/other")), 0);
    assert_int_equal(leads_in(&trash, "a/other/kept/y"), 1);
    assert_int_equal(leads_in(&trash, "a/deep/x"), 0);
    assert_int_equal(leads_in(&(struct trash)TRASH_NONE, "a/other/kept/y"), 0);
    /* So is a directory that is moved below it. */
    assert_int_equal(rename(scratch_path(scratch_group, "tree/a/deep"),
                            scratch_path(scratch_group, "tree/a/other/deep")),
                     0);
    assert_int_equal(leads_in(&trash, "a/other/deep/x"), 1);
    trash_done(&trash);
}

/* Its directory leaves the tree between two looks: it is in no tree, and no trash is told. */
static void test_trash_way__out_of_the_tree_is_an_error(void **state)
{
    (void)state;
    _cleanup_(tidy_look_done) struct tidy_look look = TIDY_LOOK_NONE;
    _cleanup_(trash_done) struct trash trash = TRASH_NONE;
    make_directory("tree/leaves");
    make_directory("other bin");
    put("tree/leaves/x");
    trash.fd = open(scratch_path(scratch_group, "other bin"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int tree_fd =
        open(scratch_path(scratch_group, "tree"), O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(tidy_look_open(tree_fd, "leaves/x", &look), 0);
    assert_int_equal(
        rename(scratch_path(scratch_group, "tree/leaves"), scratch_path(scratch_group, "left")), 0);
    assert_true(trash_way_leads_in(&trash, tree_fd, "leaves/x", &look) < 0);
}

static void test_trash_way__of_another_run_is_by_what_it_has_of_each_thing(void **state)
{
    (void)state;
    const struct trash none = TRASH_NONE;
    make_directory("tree/some");
    make_directory("tree/some/info");
    make_directory("tree/some/files");
    make_directory("tree/some/files/whole");
    make_directory("tree/some/files/whole/files");
    put("tree/some/info/x.trashinfo");
    put("tree/some/info/whole.trashinfo");
    put("tree/some/files/x");
    put("tree/some/files/of nothing");
    put("tree/some/files/whole/y");
    put("tree/some/files/whole/files/z");
    assert_int_equal(leads_in(&none, "some/files/x"), 1);
    assert_int_equal(leads_in(&none, "some/files/whole/y"), 1);
    assert_int_equal(leads_in(&none, "some/files/whole/files/z"), 1);
    assert_int_equal(leads_in(&none, "some/files/of nothing"), 0);
    assert_int_equal(leads_in(&none, "some/info/x.trashinfo"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trash_way__names_are_those_of_directories),
        cmocka_unit_test(test_trash_way__of_a_run_is_where_its_trash_is_now),
        cmocka_unit_test(test_trash_way__out_of_the_tree_is_an_error),
        cmocka_unit_test(test_trash_way__of_another_run_is_by_what_it_has_of_each_thing),
    };
    return cmocka_run_group_tests(tests, scratch_group_make, scratch_group_remove);
}
