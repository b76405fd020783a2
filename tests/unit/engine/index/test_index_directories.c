/* The index over directories that are renamed, exchanged and come with all that is in them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

static void test_index__renaming_a_directory_renames_every_answer(void **state)
{
    struct indexed_tree *f = *state;
    mkdir(scratch_path(f->tree, "old"), 0755);
    indexed_tree_write(f, "old/b", 1, 1, 10);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar(f, "a", "old/b");
    assert_int_equal(rename(scratch_path(f->tree, "old"), scratch_path(f->tree, "new")), 0);
    index_note_rename(f->index, 0, backing_root_key(f->backing), "old",
                      backing_root_key(f->backing), "new");
    index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    assert_similar(f, "a", "new/b");
    struct index_status status;
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents, 2);
}

static void note_rename(struct indexed_tree *f, const char *old, const char *new)
{
    index_note_rename(f->index, 0, backing_root_key(f->backing), old, backing_root_key(f->backing),
                      new);
}

static uint64_t n_sketched(struct indexed_tree *f)
{
    struct index_status status;
    index_get_status(f->index, &status);
    return status.sketched_documents;
}

static void make_two_directories(struct indexed_tree *f)
{
    mkdir(scratch_path(f->tree, "x"), 0755);
    mkdir(scratch_path(f->tree, "y"), 0755);
    mkdir(scratch_path(f->tree, "x/deep"), 0755);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "x/deep/b", 1, 1, 10);
    indexed_tree_write(f, "y/c", 1, 2, 40);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar(f, "a", "x/deep/b y/c");
}

static void test_index__exchanged_directories_keep_all_that_is_below(void **state)
{
    struct indexed_tree *f = *state;
    make_two_directories(f);
    uint64_t cluster = cluster_of(f, "a");
    for (int round = 0; round < 4; round++) {
        assert_int_equal(renameat2(AT_FDCWD, scratch_path(f->tree, "x"), AT_FDCWD,
                                   scratch_path(f->tree, "y"), RENAME_EXCHANGE),
                         0);
        /* In either order, or only one of them yet. */
        if (round % 2)
            note_rename(f, "x", "y");
        else
            note_rename(f, "y", "x");
        indexed_tree_settle_foreground(f);
        assert_similar(f, "a", round % 2 ? "x/deep/b y/c" : "y/deep/b x/c");
    }
    assert_int_equal(n_sketched(f), 3);
    assert_int_equal(cluster_of(f, "a"), cluster);
}

static void test_index__directories_renamed_faster_than_noted_are_followed(void **state)
{
    struct indexed_tree *f = *state;
    make_two_directories(f);
    /* x -> t, y -> x, t -> y, and nothing looked at before all is done; the notices come in the
     * worst order: old names first. */
    rename(scratch_path(f->tree, "x"), scratch_path(f->tree, "t"));
    rename(scratch_path(f->tree, "y"), scratch_path(f->tree, "x"));
    rename(scratch_path(f->tree, "t"), scratch_path(f->tree, "y"));
    note_gone(f, "t");
    note_gone(f, "y");
    note_gone(f, "x");
    assert_similar(f, "a", "y/deep/b x/c");

    /* Away and back again, under the eyes of the one who looks. */
    for (int i = 0; i < 200; i++) {
        rename(scratch_path(f->tree, "y"), scratch_path(f->tree, "t"));
        note_rename(f, "y", "t");
        rename(scratch_path(f->tree, "t"), scratch_path(f->tree, "y"));
        note_rename(f, "t", "y");
    }
    indexed_tree_settle_foreground(f);
    assert_similar(f, "a", "y/deep/b x/c");

    /* Into another directory, and only its old name is noted. */
    rename(scratch_path(f->tree, "y"), scratch_path(f->tree, "x/inner"));
    note_gone(f, "y");
    assert_similar(f, "a", "x/inner/deep/b x/c");
    assert_int_equal(n_sketched(f), 3);

    /* Out of the tree. */
    rename(scratch_path(f->tree, "x/inner"), scratch_path(f->root, "outside"));
    struct file_key x = indexed_tree_key(f, "x");
    index_note_entry(f->index, &x, "inner");
    indexed_tree_settle_foreground(f);
    assert_similar(f, "a", "x/c");
    indexed_tree_settle(f); /* what hung on it goes later */
    assert_int_equal(n_documents(f), 2);
}

static void test_index__another_tree_at_the_same_path_is_not_the_old_one(void **state)
{
    struct indexed_tree *f = *state;
    make_two_directories(f);
    indexed_tree_stop(f);
    assert_int_equal(rename(f->tree, scratch_path(f->root, "old")), 0);
    assert_int_equal(mkdir(f->tree, 0755), 0);
    indexed_tree_write(f, "other", 7, 0, 0);
    assert_int_equal(rename(scratch_path(f->root, "old/a"), scratch_path(f->tree, "a")), 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), 2);
    assert_similar(f, "a", "");
    assert_int_equal(cluster_of(f, "a"), 0);
}

/* -- settling -- */

enum { MOVED_DEPTH = 20, MOVED_FILES = 20 };

/* Directories in each other, with documents, that come to the tree all at once. */
static void move_directories_in(struct indexed_tree *f)
{
    char directory[256] = "moved", name[300];
    for (unsigned depth = 0; depth < MOVED_DEPTH; depth++) {
        mkdir(scratch_path(f->tree, "%s", directory), 0755);
        for (unsigned i = 0; i < MOVED_FILES; i++) {
            snprintf(name, sizeof(name), "%s/f%u", directory, i);
            indexed_tree_write(f, name, depth * MOVED_FILES + i, 0, 0);
        }
        strcat(directory, "/sub");
    }
    index_note_entry(f->index, backing_root_key(f->backing), "moved");
}

static void test_index__settling_waits_for_what_came_with_a_directory(void **state)
{
    struct indexed_tree *f = *state;
    indexed_tree_start(f);
    indexed_tree_settle(f);
    move_directories_in(f);
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
    assert_int_equal(n_documents(f), MOVED_DEPTH * MOVED_FILES);
}

static void test_index__settling_waits_for_the_scan_that_an_entry_begins(void **state)
{
    enum { NAMES = 1100 }; /* more than are noted with the entry */
    struct indexed_tree *f = *state;
    indexed_tree_start(f);
    indexed_tree_settle(f);
    mkdir(scratch_path(f->tree, "moved"), 0755);
    for (unsigned i = 0; i < NAMES; i++)
        assert_int_equal(symlink("nowhere", scratch_path(f->tree, "moved/link%u", i)), 0);
    move_directories_in(f);
    indexed_tree_settle(f);
    assert_int_equal(n_documents(f), MOVED_DEPTH * MOVED_FILES);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__renaming_a_directory_renames_every_answer),
        ON_A_TREE(test_index__exchanged_directories_keep_all_that_is_below),
        ON_A_TREE(test_index__directories_renamed_faster_than_noted_are_followed),
        ON_A_TREE(test_index__another_tree_at_the_same_path_is_not_the_old_one),
        ON_A_TREE(test_index__settling_waits_for_what_came_with_a_directory),
        ON_A_TREE(test_index__settling_waits_for_the_scan_that_an_entry_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
