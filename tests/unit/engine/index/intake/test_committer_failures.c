/* The committer over a store that fails. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/committer.h"
#include "tests/lib/fixtures/committer_fixture.h"
#include "tests/lib/stores/kv_fault.h"

static void test_committer__damage_is_said_once_and_ends_every_wait(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 30; i++) {
        char name[32];
        snprintf(name, sizeof(name), "f%u", i);
        write_text(f, name, i);
    }
    start(f, &(struct kv_fault_plan){.fail_call = 1, .fail_error = -EUCLEAN});
    assert_int_equal(index_settle(f->tree.index, INDEX_LANE_ALL, 600000), -EUCLEAN);
    index_rescan(f->tree.index);
    usleep(2500 * 1000); /* it would have been tried again */
    assert_int_equal(index_settle(f->tree.index, INDEX_LANE_ALL, 600000), -EUCLEAN);
    indexed_tree_settle_foreground(&f->tree);
    assert_int_equal(n_logged(f, INDEX_LOG_ERROR), 1);
    assert_int_equal(n_logged(f, INDEX_LOG_INFO), 0);
    assert_non_null(strstr(f->last_message, "kinfs check --repair"));
    assert_non_null(strstr(status_of(f).last_error, "is damaged"));
    assert_false(status_of(f).scanning);
    assert_int_equal(committer_flush(f->tree.index), -EUCLEAN);
}

static void test_committer__a_failure_is_said_once_and_its_end_once(void **state)
{
    struct fixture *f = *state;
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    start(f, &(struct kv_fault_plan){.fail_call = 1, .fail_error = -EIO});
    indexed_tree_settle(&f->tree);
    while (n_logged(f, INDEX_LOG_INFO) == 0)
        usleep(1000);
    assert_int_equal(n_logged(f, INDEX_LOG_ERROR), 1);
    assert_int_equal(n_logged(f, INDEX_LOG_INFO), 1);
    assert_non_null(strstr(f->last_message, "can be written again"));
    assert_string_equal(status_of(f).last_error, "");
    assert_int_equal(status_of(f).documents, 2);
    assert_int_equal(n_similar(f, "a"), 1);
}

/* The call that fails may come when nobody waits any more. */
static void settle_for_good(struct fixture *f)
{
    enum { TRIES = 1000 };
    indexed_tree_settle(&f->tree);
    for (int n = 0; n < TRIES && (status_of(f).scanning || status_of(f).store_error); n++) {
        usleep(1000);
        indexed_tree_settle(&f->tree);
    }
}

/* A burst into a store that fails at some call, and is tried again soon. Whatever was dropped,
 * every wait ends, and in the end all is there and counted. Returns the calls or writes that there
 * were until then, and adds to *n_failed if the committer met the failure. A call that was not
 * reached by then fails nothing: nobody asks. */
static uint64_t fail_amid_a_burst(struct fixture *f, unsigned n_files,
                                  const struct kv_fault_plan *plan, unsigned *n_failed)
{
    enum { N_NEW = 5 };
    uint64_t n_calls, n_writes, n_documents = n_files + N_NEW + 1;
    char name[32];
    write_text(f, "old", 100 + n_files);
    open_index(f, plan);
    f->tree.index->resume_after_ms = 20;
    assert_int_equal(index_start(f->tree.index), 0);
    struct file_key old = indexed_tree_key(&f->tree, "old");
    index_note_content(f->tree.index, &old);
    for (unsigned i = 0; i < N_NEW; i++) {
        snprintf(name, sizeof(name), "f%u", n_files + i);
        write_text(f, name, i / 2);
        index_note_entry(f->tree.index, backing_root_key(f->tree.backing), name);
    }
    indexed_tree_settle_foreground(&f->tree);
    settle_for_good(f);
    *n_failed += status_of(f).failed > 0;
    assert_int_equal(status_of(f).store_error, 0);
    assert_int_equal(status_of(f).pending_foreground + status_of(f).pending_scan, 0);
    assert_int_equal(status_of(f).documents, n_documents);
    assert_int_equal(status_of(f).clustered_documents, n_documents);
    kv_fault_counts(f->fault, &n_calls, &n_writes);
    if (n_calls >= plan->fail_call)
        assert_int_equal(n_similar(f, "old"), n_documents - 1);
    index_stop(f->tree.index);
    f->tree.index->kv = f->tree.index->counts.kv = f->tree.index->past.kv = f->kv;
    assert_int_equal(document_counts_recount(&f->tree.index->counts), 0); /* the other route */
    assert_int_equal(status_of(f).documents, n_documents);
    assert_int_equal(status_of(f).skipped, 0);
    stop(f);
    return plan->late_failure ? n_writes : n_calls;
}

static void test_committer__a_write_that_happens_and_fails_amid_a_burst(void **state)
{
    struct fixture *f = *state;
    unsigned n_files = 0, n_failed = 0;
    uint64_t n_writes = 1;
    for (unsigned n = 1; n <= n_writes; n++, n_files += 5)
        n_writes = fail_amid_a_burst(
            f, n_files, &(struct kv_fault_plan){.late_failure = n, .fail_error = -ENOSPC},
            &n_failed);
    assert_true(n_failed > 3);
}

static void test_committer__a_call_that_fails_amid_a_burst(void **state)
{
    struct fixture *f = *state;
    unsigned n_files = 0, n_failed = 0, n_reached = 0;
    /* A worker may meet the failure, which asks again, or the committer. The burst falls into steps
     * by chance: it makes some twenty calls, or some eighty. */
    for (unsigned n = 1; n < 60; n += 7, n_files += 5)
        n_reached += fail_amid_a_burst(
                         f, n_files, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC},
                         &n_failed) >= n;
    assert_true(n_reached > 1);
}

/* A directory goes, and its removal cannot be noted, or is and that is not known. Whoever waits is
 * told in the end, and what was in it is gone by then. */
static uint64_t fail_amid_a_removal(struct fixture *f, const struct kv_fault_plan *plan,
                                    unsigned *n_failed)
{
    static const char *const names[] = {"d/a", "d/b", "d/below/c"};
    uint64_t n_calls, n_writes;
    (void)mkdir(scratch_path(f->tree.tree, "d"), 0755);
    (void)mkdir(scratch_path(f->tree.tree, "d/below"), 0755);
    for (unsigned i = 0; i < 3; i++)
        write_text(f, names[i], i);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    assert_int_equal(status_of(f).documents, 4);
    stop(f);
    open_index(f, plan);
    f->tree.index->resume_after_ms = 20;
    scratch_remove(scratch_path(f->tree.tree, "d"));
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "d");
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle_foreground(&f->tree);
    settle_for_good(f);
    assert_false(status_of(f).scanning);
    assert_int_equal(status_of(f).documents, 1);
    *n_failed += status_of(f).failed > 0;
    kv_fault_counts(f->fault, &n_calls, &n_writes);
    stop(f);
    return plan->late_failure ? n_writes : n_calls;
}

static void test_committer__a_removal_that_cannot_be_noted_comes_later(void **state)
{
    struct fixture *f = *state;
    unsigned n_failed = 0;
    uint64_t n_calls = 1;
    write_text(f, "stays", 7);
    for (unsigned n = 1; n <= n_calls && n < 120; n += 4)
        n_calls = fail_amid_a_removal(
            f, &(struct kv_fault_plan){.fail_call = n, .fail_error = -ENOSPC}, &n_failed);
    n_calls = 1;
    for (unsigned n = 1; n <= n_calls && n < 60; n++)
        n_calls = fail_amid_a_removal(
            f, &(struct kv_fault_plan){.late_failure = n, .fail_error = -ENOSPC}, &n_failed);
    assert_true(n_failed > 5);
}

/* Before all other links of a file or directory, one to no directory. */
static void damage_links(struct fixture *f, const char *name)
{
    const struct file_key child = indexed_tree_key(&f->tree, name);
    uint8_t key[1 + FILE_KEY_MAX_BYTES + 1] = {child.size_bytes};
    _cleanup_(kv_batch_free_p) struct kv_batch *batch = kv_batch_new();
    memcpy(key + 1, child.bytes, child.size_bytes);
    key[1 + child.size_bytes] = 1;
    kv_batch_put(batch, TABLE_LINKS, (struct kv_slice){key, 2u + child.size_bytes},
                 (struct kv_slice){"", 0});
    assert_int_equal(kv_apply(f->kv, batch), 0);
}

static void assert_damage_is_said(struct fixture *f)
{
    assert_int_equal(index_settle(f->tree.index, INDEX_LANE_ALL, 600000), -EUCLEAN);
    assert_int_equal(n_logged(f, INDEX_LOG_ERROR), 1);
    assert_non_null(strstr(f->last_message, "kinfs check --repair"));
    assert_false(status_of(f).scanning);
}

static void test_committer__a_damaged_name_of_a_document_is_said(void **state)
{
    struct fixture *f = *state;
    write_text(f, "a", 1);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    damage_links(f, "a");
    write_text(f, "a", 2);
    const struct file_key key = indexed_tree_key(&f->tree, "a");
    index_note_content(f->tree.index, &key);
    indexed_tree_settle_foreground(&f->tree);
    assert_damage_is_said(f);
}

/* Returns what the thread had. */
static uint32_t set_capability(uint32_t set)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    assert_int_equal(syscall(SYS_capget, &header, data), 0);
    const uint32_t had = data[0].effective & (1u << CAP_DAC_READ_SEARCH);
    data[0].effective = (data[0].effective & ~(1u << CAP_DAC_READ_SEARCH)) | set;
    assert_int_equal(syscall(SYS_capset, &header, data), 0);
    return had;
}

/* Where files are opened by their paths the threads that list directories are the first to meet
 * it. */
static void test_committer__a_damaged_name_of_a_directory_is_said(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(mkdir(scratch_path(f->tree.tree, "d"), 0755), 0);
    write_text(f, "d/a", 1);
    const uint32_t had = set_capability(0);
    start(f, &no_fault);
    assert_false(backing_has_handles(f->tree.backing));
    indexed_tree_settle(&f->tree);
    damage_links(f, "d");
    index_rescan(f->tree.index);
    assert_damage_is_said(f);
    set_capability(had);
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_committer__damage_is_said_once_and_ends_every_wait),
        ON_A_TREE(test_committer__a_failure_is_said_once_and_its_end_once),
        ON_A_TREE(test_committer__a_write_that_happens_and_fails_amid_a_burst),
        ON_A_TREE(test_committer__a_call_that_fails_amid_a_burst),
        ON_A_TREE(test_committer__a_removal_that_cannot_be_noted_comes_later),
        ON_A_TREE(test_committer__a_damaged_name_of_a_document_is_said),
        ON_A_TREE(test_committer__a_damaged_name_of_a_directory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
