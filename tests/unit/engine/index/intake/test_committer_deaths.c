/* The committer over a store that dies. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/below.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/reconcile.h"
#include "engine/index/intake/worker.h"
#include "tests/lib/fixtures/committer_fixture.h"
#include "tests/lib/scratch.h"
#include "tests/lib/stores/kv_fault.h"

static void test_committer__counts_are_right_after_a_death_at_any_write(void **state)
{
    struct fixture *f = *state;
    unsigned n_files = 0;
    write_text(f, "first", 0);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    stop(f);
    for (unsigned n = 1; n <= 6; n++) {
        char name[32];
        snprintf(name, sizeof(name), "f%u", n_files++);
        write_text(f, name, n);
        write_text(f, "first", n); /* one comes, one is rewritten */
        start(f, &(struct kv_fault_plan){.crash_after_writes = n});
        struct file_key first = indexed_tree_key(&f->tree, "first");
        index_note_entry(f->tree.index, backing_root_key(f->tree.backing), name);
        indexed_tree_settle_foreground(&f->tree);
        index_note_content(f->tree.index, &first);
        indexed_tree_settle_foreground(&f->tree);
        stop(f);
        start(f, &no_fault);
        indexed_tree_settle(&f->tree);
        struct index_status status = status_of(f);
        assert_int_equal(document_counts_recount(&f->tree.index->counts),
                         0); /* nobody changes it now */
        assert_int_equal(status.documents, status_of(f).documents);
        assert_int_equal(status_of(f).documents, n_files + 1);
        assert_int_equal(status_of(f).skipped, 0);
        assert_int_equal(n_similar(f, "first"), n_files);
        stop(f);
    }
}

/* Who is asked is the test: no committer runs. */
static void reconcile_names(struct fixture *f, const char (*names)[32], size_t n)
{
    struct change *changes[8];
    size_t n_changes = 0;
    for (size_t i = 0; i < n; i++)
        index_note_entry(f->tree.index, backing_root_key(f->tree.backing), names[i]);
    while (n_changes < 8 &&
           change_queue_take(f->tree.index->queue, CHANGE_ENTRY, false, &changes[n_changes]) == 1)
        n_changes++;
    assert_int_equal(n_changes, n);
    struct name_look looks[8] = {0}, *at[8];
    uid_t owners[8];
    for (size_t i = 0; i < n; i++) {
        owners[i] = RECONCILE_NOBODY;
        at[i] = &looks[i];
        looks[i].change = changes[i];
        below_look(f->tree.index, &looks[i]);
    }
    assert_int_equal(reconcile_entries(f->tree.index, changes, at, n, owners), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(owners[i], RECONCILE_NOBODY);
    for (size_t i = 0; i < n; i++)
        change_queue_done(f->tree.index->queue, changes[i]);
}

/* What a worker makes of all contents that are noted, in one step. */
static int commit_together(struct fixture *f, size_t n)
{
    struct result *results[8];
    pthread_t worker;
    size_t n_ready = 0;
    assert_int_equal(pthread_create(&worker, NULL, worker_run, f->tree.index), 0);
    while (n_ready < n) {
        usleep(1000);
        LOCKED(&f->tree.index->lock);
        n_ready = f->tree.index->n_results;
    }
    change_queue_shut_down(f->tree.index->queue);
    pthread_join(worker, NULL);
    assert_int_equal(n_ready, n);
    for (size_t i = 0; i < n; i++) {
        results[i] = STAILQ_FIRST(&f->tree.index->results);
        STAILQ_REMOVE_HEAD(&f->tree.index->results, next);
        assert_int_equal(results[i]->outcome, OUTCOME_SKETCHED);
    }
    f->tree.index->n_results = 0;
    int r = commit_results(f->tree.index, results, n);
    f->tree.index->store_error = r;
    for (size_t i = 0; i < n; i++) {
        change_queue_done(f->tree.index->queue, results[i]->change);
        record_done(&results[i]->record);
        free(results[i]);
    }
    return r;
}

/* A new one, its twin and another, one rewritten, and one that is written with what it had. Returns
 * whether the store died. */
static bool come_together(struct fixture *f, unsigned round)
{
    char names[3][32];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(names[i], sizeof(names[i]), "f%u%c", round, 'a' + i);
        write_text(f, names[i], 3 * round + (i == 2));
    }
    write_text(f, "old", 100 + round);
    write_text(f, "same", 7);
    open_index(f, &no_fault);
    reconcile_names(f, (const char(*)[32])names, 3);
    kv_close(f->fault);
    assert_int_equal(
        kv_fault_open(f->kv, &(struct kv_fault_plan){.crash_after_writes = round}, &f->fault), 0);
    f->tree.index->kv = f->tree.index->counts.kv = f->tree.index->past.kv = f->fault;
    struct file_key old = indexed_tree_key(&f->tree, "old"),
                    same = indexed_tree_key(&f->tree, "same");
    index_note_content(f->tree.index, &old);
    index_note_content(f->tree.index, &same);
    f->dies = true;
    bool died = commit_together(f, 5) < 0;
    if (!died)
        assert_int_equal(status_of(f).documents, 2 + 3 * round);
    stop(f);
    return died;
}

static void test_committer__a_death_among_contents_that_come_together(void **state)
{
    struct fixture *f = *state;
    bool died = true;
    write_text(f, "old", 99);
    write_text(f, "same", 7);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    stop(f);
    for (unsigned round = 1; died; round++) {
        char name[32];
        usleep(50 * 1000); /* times that tell a later change */
        died = come_together(f, round);
        assert_true(died || round > 2);
        start(f, &no_fault);
        indexed_tree_settle(&f->tree);
        unsigned n = 2 + 3 * round;
        assert_int_equal(status_of(f).documents, n);
        assert_int_equal(document_counts_recount(&f->tree.index->counts), 0);
        assert_int_equal(status_of(f).documents, n);
        assert_int_equal(n_similar(f, "old"), n - 1);
        for (unsigned i = 0; i < 3; i++) {
            snprintf(name, sizeof(name), "f%u%c", round, 'a' + i);
            assert_int_equal(n_similar(f, name), n - 1);
        }
        assert_int_equal(status_of(f).clustered_documents, n);
        assert_int_equal(status_of(f).clusters, 1);
        stop(f);
    }
}

/* A directory leaves the tree and comes back: its files look as they did. */
static void test_committer__a_half_removed_document_is_sketched_anew(void **state)
{
    struct fixture *f = *state;
    mkdir(scratch_path(f->tree.tree, "d"), 0755);
    write_text(f, "d/a", 1);
    write_text(f, "d/b", 2);
    usleep(50 * 1000); /* times that tell a later change */
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    stop(f);
    for (unsigned n = 1; n <= 8; n++) {
        char away[128], here[128];
        snprintf(away, sizeof(away), "%s/away", f->tree.root);
        snprintf(here, sizeof(here), "%s/d", f->tree.tree);
        open_index(f, &(struct kv_fault_plan){.crash_after_writes = n});
        assert_int_equal(rename(here, away), 0);
        struct file_key directory;
        enum entry_type type;
        assert_int_equal(
            catalogue_get(f->kv, backing_root_key(f->tree.backing), "d", &directory, &type), 0);
        _cleanup_(catalogue_list_done) struct catalogue_list list = {0};
        assert_int_equal(catalogue_children(f->kv, &directory, NULL, 8, &list), 0);
        for (size_t i = 0; i < list.n_entries; i++)
            if (commit_drop_document(f->tree.index, &list.entries[i].child) < 0)
                break;
        stop(f);
        assert_int_equal(rename(away, here), 0);
        start(f, &no_fault);
        indexed_tree_settle(&f->tree);
        assert_int_equal(n_similar(f, "d/a"), 1);
        assert_int_equal(status_of(f).documents, 2);
        stop(f);
    }
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_committer__counts_are_right_after_a_death_at_any_write),
        ON_A_TREE(test_committer__a_death_among_contents_that_come_together),
        ON_A_TREE(test_committer__a_half_removed_document_is_sketched_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
