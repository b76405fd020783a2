/* Counts that the committer stores. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/commit.h"
#include "tests/lib/fixtures/committer_fixture.h"

static void put_counts(struct fixture *f, uint64_t n_documents, uint64_t n_skipped)
{
    uint8_t value[16];
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    put_be64(value, n_documents);
    put_be64(value + 8, n_skipped);
    kv_batch_put(batch, TABLE_META, (struct kv_slice){"document_counts", 15},
                 (struct kv_slice){value, sizeof(value)});
    assert_int_equal(kv_apply(f->kv, batch), 0);
}

static int get_counts(struct fixture *f, uint64_t *ret_documents, uint64_t *ret_skipped)
{
    _cleanup_(kv_buf_done) struct kv_buf value = {0};
    int r = kv_get(f->kv, TABLE_META, (struct kv_slice){"document_counts", 15}, &value);
    if (r == 0) {
        assert_int_equal(value.size_bytes, 16);
        *ret_documents = get_be64(value.data);
        *ret_skipped = get_be64((const uint8_t *)value.data + 8);
    }
    return r;
}

/* Another number than that of the rows shows which of the two a start goes by. */
static void test_committer__a_start_after_a_clean_end_does_not_count(void **state)
{
    struct fixture *f = *state;
    uint64_t n_documents, n_skipped;
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    assert_int_equal(get_counts(f, &n_documents, &n_skipped), -ENOENT);
    stop(f);

    open_index(f, &no_fault);
    assert_int_equal(get_counts(f, &n_documents, &n_skipped), 0);
    assert_int_equal(n_documents, 2);
    assert_int_equal(n_skipped, 0);
    put_counts(f, 70, 7);
    stop(f);
    open_index(f, &no_fault);
    assert_int_equal(status_of(f).documents, 70);
    assert_int_equal(status_of(f).skipped, 7);

    /* The first row that changes takes them away, and a start without them counts. */
    struct file_key a = indexed_tree_key(&f->tree, "a");
    assert_int_equal(commit_drop_document(f->tree.index, &a), 0);
    assert_int_equal(get_counts(f, &n_documents, &n_skipped), -ENOENT);
    f->tree.index->counts.lost = true; /* as a crash does: nothing is stored */
    stop(f);
    open_index(f, &no_fault);
    assert_int_equal(status_of(f).documents, 1);
    assert_int_equal(status_of(f).skipped, 0);
}

static void test_committer__counts_of_another_size_are_damage(void **state)
{
    struct fixture *f = *state;
    char *error = NULL;
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    stop(f);
    open_index(f, &no_fault);
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    kv_batch_put(batch, TABLE_META, (struct kv_slice){"document_counts", 15},
                 (struct kv_slice){"short", 5});
    assert_int_equal(kv_apply(f->kv, batch), 0);
    stop(f);

    struct index *index = NULL;
    assert_int_equal(backing_open(f->tree.tree, &f->tree.backing), 0);
    struct index_options options = {.backing = f->tree.backing,
                                    .source = f->tree.tree,
                                    .store_path = f->tree.store,
                                    .create = true};
    assert_int_equal(index_open(&options, &index, &error), -EUCLEAN);
    assert_non_null(strstr(error, "kinfs check --repair"));
    free(error);
    backing_close(f->tree.backing);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_committer__a_start_after_a_clean_end_does_not_count),
        ON_A_TREE(test_committer__counts_of_another_size_are_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
