/* The index as a whole, on a real tree and a real store. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "tests/lib/fixtures/index_fixture.h"
#include "tests/lib/scratch.h"

/* What a mount does after close(2). */
static void note_written(struct indexed_tree *f, const char *name)
{
    struct file_key key = indexed_tree_key(f, name);
    index_note_entry(f->index, backing_root_key(f->backing), name);
    index_note_content(f->index, &key);
    assert_int_equal(index_settle(f->index, INDEX_LANE_FOREGROUND, 600000), 0);
}

static void test_index__first_scan_finds_what_resembles(void **state)
{
    struct indexed_tree *f = *state;
    mkdir(scratch_path(f->tree, "sub"), 0755);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, "sub/b", 1, 1, 10);
    indexed_tree_write(f, "other", 2, 0, 0);
    indexed_tree_write(f, "twin", 2, 0, 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar(f, "a", "sub/b");
    assert_similar(f, "sub/b", "a");
    assert_similar(f, "other", "twin");
    assert_int_equal(n_documents(f), 4);
    assert_int_equal(cluster_of(f, "a"), cluster_of(f, "sub/b"));
    assert_int_not_equal(cluster_of(f, "a"), cluster_of(f, "twin"));

    struct kin_list list = similar_to(f, "other");
    assert_true(list.kin[0].resemblance == 1.0 && list.kin[0].exact);
    kin_list_done(&list);
}

static void test_index__follows_writes_renames_links_and_deletes(void **state)
{
    struct indexed_tree *f = *state;
    indexed_tree_start(f);
    indexed_tree_settle(f);
    indexed_tree_write(f, "a", 1, 0, 0);
    note_written(f, "a");
    assert_similar(f, "a", "");
    indexed_tree_write(f, "b", 1, 1, 10);
    note_written(f, "b");
    assert_similar(f, "a", "b");

    assert_int_equal(rename(scratch_path(f->tree, "b"), scratch_path(f->tree, "c")), 0);
    index_note_rename(f->index, 0, backing_root_key(f->backing), "b", backing_root_key(f->backing),
                      "c");
    index_settle(f->index, INDEX_LANE_FOREGROUND, 600000);
    assert_similar(f, "a", "c");

    assert_int_equal(link(scratch_path(f->tree, "c"), scratch_path(f->tree, "d")), 0);
    note_gone(f, "d");
    assert_similar(f, "a", "c"); /* one document, by its first name */
    unlink(scratch_path(f->tree, "c"));
    note_gone(f, "c");
    assert_similar(f, "a", "d");

    indexed_tree_write(f, "d", 9, 0, 0); /* rewritten in place as something else */
    note_written(f, "d");
    assert_similar(f, "a", "");
    indexed_tree_write(f, "d", 1, 3, 20);
    note_written(f, "d");
    assert_similar(f, "a", "d");
    unlink(scratch_path(f->tree, "d"));
    note_gone(f, "d");
    assert_similar(f, "a", "");
    assert_int_equal(n_documents(f), 1);
}

static void test_index__empty_and_binary_resemble_their_twins_only(void **state)
{
    struct indexed_tree *f = *state;
    scratch_write(scratch_path(f->tree, "e1"), "");
    scratch_write(scratch_path(f->tree, "e2"), "");
    scratch_write(scratch_path(f->tree, "punctuation"), "...!");
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar(f, "e1", "e2");
    assert_similar(f, "punctuation", "");
    assert_similar(f, "a", "");
}

static void test_index__what_cannot_be_answered_is_enoent(void **state)
{
    struct indexed_tree *f = *state;
    struct index_query query = {.threshold = 0.5};
    struct kin_list list;
    struct document_info info;
    struct cluster_info cluster;
    indexed_tree_start(f);
    indexed_tree_settle(f);
    struct file_key key = *backing_root_key(f->backing); /* of an inode that there is not */
    key.bytes[key.size_bytes - 1] ^= 0x55;
    assert_int_equal(index_similar(f->index, &key, &query, &list), -ENOENT);
    assert_int_equal(index_has_kin(f->index, &key, &query), 0);
    assert_true(index_document(f->index, &key, &(struct index_query){.wait_ms = 0}, &info) < 0);
    assert_int_equal(index_cluster(f->index, 77, &query, &cluster, NULL), -ENOENT);
}

/* With a limit the representative and the size are those of the whole cluster, without that all of
 * it is read. */
static void test_index__a_limit_bounds_how_much_of_a_cluster_is_read(void **state)
{
    enum { N = 1300 };
    struct indexed_tree *f = *state;
    const struct index_query all = {0}, one = {.limit = 1}, ten = {.limit = 10};
    struct cluster_info whole, first, listed;
    struct kin_list members = {0}, some = {0};
    char name[16];
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "%d", i);
        indexed_tree_write(f, name, 1, 0, 0);
    }
    indexed_tree_start(f);
    indexed_tree_settle(f);
    const uint64_t id = cluster_of(f, "0");
    assert_int_equal(index_cluster(f->index, id, &all, &whole, &members), 0);
    assert_int_equal(whole.size, N);
    assert_int_equal(members.n_kin, N);
    assert_true(whole.resemblance_min == 1.0 && whole.resemblance_mean == 1.0);

    assert_int_equal(index_cluster(f->index, id, &one, &first, NULL), 0);
    assert_int_equal(first.size, N);
    assert_string_equal(first.representative.path, whole.representative.path);
    assert_true(isnan(first.resemblance_min) && isnan(first.resemblance_mean));

    assert_int_equal(index_cluster(f->index, id, &ten, &listed, &some), 0);
    assert_int_equal(listed.size, N);
    assert_int_equal(some.n_kin, 10);
    assert_string_equal(some.kin[0].path, whole.representative.path);
    assert_true(isnan(listed.resemblance_min));
    kin_list_done(&members);
    kin_list_done(&some);
    cluster_info_done(&whole);
    cluster_info_done(&first);
    cluster_info_done(&listed);

    /* The representative goes, and so many before the next one. */
    for (int i = 0; i < N - 20; i++) {
        snprintf(name, sizeof(name), "%d", i);
        assert_int_equal(unlink(scratch_path(f->tree, "%s", name)), 0);
        index_note_entry(f->index, backing_root_key(f->backing), name);
    }
    indexed_tree_settle(f);
    assert_int_equal(index_cluster(f->index, id, &one, &first, NULL), 0);
    assert_int_equal(index_cluster(f->index, id, &all, &whole, NULL), 0);
    assert_int_equal(first.size, 20);
    assert_int_equal(whole.size, 20);
    assert_string_equal(first.representative.path, whole.representative.path);
    cluster_info_done(&whole);
    cluster_info_done(&first);
}

static void test_index__what_the_mount_hides_is_not_indexed(void **state)
{
    struct indexed_tree *f = *state;
    mkdir(scratch_path(f->tree, ".kinfs"), 0755);
    mkdir(scratch_path(f->tree, "sub"), 0755);
    mkdir(scratch_path(f->tree, "sub/.kinfs"), 0755);
    indexed_tree_write(f, "a", 1, 0, 0);
    indexed_tree_write(f, ".kinfs/b", 1, 1, 10);
    indexed_tree_write(f, "sub/.kinfs/c", 1, 2, 10);
    indexed_tree_start(f);
    indexed_tree_settle(f);
    assert_similar(f, "a", "sub/.kinfs/c");
}

static void test_index__closing_does_not_wait_for_a_large_document(void **state)
{
    struct indexed_tree *f = *state;
    struct index_status status;
    indexed_tree_start(f);
    indexed_tree_settle(f);
    int fd = open(scratch_path(f->tree, "large"), O_WRONLY | O_CREAT, 0644);
    assert_int_equal(ftruncate(fd, (off_t)60 << 30), 0); /* a minute to read */
    close(fd);
    struct file_key key = indexed_tree_key(f, "large");
    index_note_entry(f->index, backing_root_key(f->backing), "large");
    index_note_content(f->index, &key);
    do
        index_get_status(f->index, &status);
    while (!status.pending_slow);
    index_close(f->index, 0);
    backing_close(f->backing);
    f->index = NULL; /* the test's own time limit is the assertion */
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, indexed_tree_teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_index__first_scan_finds_what_resembles),
        ON_A_TREE(test_index__follows_writes_renames_links_and_deletes),
        ON_A_TREE(test_index__empty_and_binary_resemble_their_twins_only),
        ON_A_TREE(test_index__what_cannot_be_answered_is_enoent),
        ON_A_TREE(test_index__a_limit_bounds_how_much_of_a_cluster_is_read),
        ON_A_TREE(test_index__what_the_mount_hides_is_not_indexed),
        ON_A_TREE(test_index__closing_does_not_wait_for_a_large_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
