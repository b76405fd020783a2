/* Changes behind the back of the index, which nobody noted. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

static void test_index__a_later_start_sketches_only_what_changed(void **state)
{
    struct indexed_tree *f = *state;
    struct index_status status;
    mkdir(scratch_path(f->tree, "sub"), 0755);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "b", 1, 1, 10);
    indexed_tree_write(f, "sub/c", 1, 2, 10);
    indexed_tree_write(f, "gone", 1, 3, 10);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    uint64_t cluster = cluster_of(f, "a");
    indexed_tree_stop(f);

    /* Behind its back: one moved, one changed, one new, one deleted. */
    assert_int_equal(rename(scratch_path(f->tree, "b"), scratch_path(f->tree, "sub/moved")), 0);
    indexed_tree_write(f, "sub/c", 2, 0, 0);
    indexed_tree_write(f, "new", 2, 1, 10);
    unlink(scratch_path(f->tree, "gone"));
    indexed_tree_start(f);
    indexed_tree_settle(f);
    index_get_status(f->index, &status);
    assert_int_equal(status.sketched_documents, 3); /* a rename moves the ctime: read, not new */
    assert_int_equal(status.documents, 4);
    assert_similar(f, "a", "sub/moved");
    assert_similar(f, "new", "sub/c");
    assert_int_equal(cluster_of(f, "a"), cluster);
}

static void test_index__a_change_behind_its_back_is_seen_when_asked(void **state)
{
    struct indexed_tree *f = *state;
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "b", 2, 0, 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar(f, "a", "");
    indexed_tree_write(f, "b", 1, 1, 10);
    cluster_of(f, "b"); /* asserts that it is current */
    assert_similar(f, "b", "a");
}

static void test_index__a_file_made_behind_its_back_is_found_when_asked(void **state)
{
    struct indexed_tree *f = *state;
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    mkdir(scratch_path(f->tree, "new"), 0755);
    mkdir(scratch_path(f->tree, "new/deep"), 0755);
    indexed_tree_write(f, "new/deep/b", 1, 1, 10);
    cluster_of(f, "new/deep/b"); /* asserts that it is current */
    assert_similar(f, "a", "new/deep/b");
}

static void test_index__answers_that_changed_behind_its_back_are_looked_at_again(void **state)
{
    struct indexed_tree *f = *state;
    struct index_query query = {.threshold = 0.4, .wait_ms = 600000};
    struct kin_list list;
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "b", 1, 1, 10);
    indexed_tree_write(f, "c", 1, 2, 10);
    indexed_tree_write(f, "d", 1, 3, 10);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    indexed_tree_write(f, "b", 2, 0, 0);
    unlink(scratch_path(f->tree, "c"));
    struct file_key key = indexed_tree_key(f, "a");
    assert_int_equal(index_similar(f->index, &key, &query, &list), 0);
    assert_int_equal(list.n_kin, 1);
    assert_string_equal(list.kin[0].path, "d");
    kin_list_done(&list);
}

static void test_index__a_store_through_a_mapping_before_close_is_seen(void **state)
{
    struct indexed_tree *f = *state;
    char *one = scratch_text(1, 0, 600, 0), *two = scratch_text(2, 0, 600, 0);
    indexed_tree_write(f, "like one", 1, 1, 10);
    indexed_tree_write(f, "like two", 2, 1, 10);
    scratch_write(scratch_path(f->tree, "a"), one);
    indexed_tree_start(f);
    indexed_tree_settle(f);

    struct file_key key = indexed_tree_key(f, "a");
    int fd = open(scratch_path(f->tree, "a"), O_RDWR);
    size_t size = strlen(one);
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    index_note_writing(f->index, 0, &key, +1);
    memcpy(map, two, size);
    cluster_of(f, "a"); /* sketched in the midst of it */
    assert_similar(f, "a", "like two");
    memcpy(map, one, size); /* into pages that are dirty already: no time moves */
    munmap(map, size);
    close(fd);
    index_note_content(f->index, &key);
    index_note_writing(f->index, 0, &key, -1);
    indexed_tree_settle_foreground(f);
    assert_similar(f, "a", "like one");
    free(one);
    free(two);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__a_later_start_sketches_only_what_changed),
        ON_A_TREE(test_index__a_change_behind_its_back_is_seen_when_asked),
        ON_A_TREE(test_index__a_file_made_behind_its_back_is_found_when_asked),
        ON_A_TREE(test_index__answers_that_changed_behind_its_back_are_looked_at_again),
        ON_A_TREE(test_index__a_store_through_a_mapping_before_close_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
