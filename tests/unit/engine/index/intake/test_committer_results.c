/* Results made by hand: the committer runs, and a lister, who looks for names that a file system
 * may not answer at once; no worker does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "engine/index/index_state.h"
#include "engine/index/intake/below.h"
#include "engine/index/intake/commit.h"
#include "engine/index/intake/committer.h"
#include "tests/lib/fixtures/committer_fixture.h"
#include "tests/lib/scratch.h"

static void start_committer(struct fixture *f)
{
    open_index(f, &no_fault);
    f->tree.index->threads = calloc(1, sizeof(*f->tree.index->threads));
    assert_int_equal(pthread_create(&f->tree.index->threads[0], NULL, below_run, f->tree.index), 0);
    f->tree.index->n_started = 1;
    assert_int_equal(pthread_create(&f->tree.index->committer, NULL, committer_run, f->tree.index),
                     0);
    f->tree.index->started = true;
}

/* False: one was given up, and none is there. */
static bool take_content(struct fixture *f, struct change **ret_change)
{
    while (change_queue_take(f->tree.index->queue, CHANGE_CONTENT, false, ret_change) != 1) {
        if (status_of(f).skipped)
            return false;
        usleep(1000);
    }
    return true;
}

static void hand_over(struct fixture *f, struct change *change, enum outcome outcome, int error)
{
    struct result *result = calloc(1, sizeof(*result));
    result->change = change;
    result->outcome = outcome;
    result->error = error;
    LOCKED(&f->tree.index->lock);
    STAILQ_INSERT_TAIL(&f->tree.index->results, result, next);
    f->tree.index->n_results++;
    pthread_cond_signal(&f->tree.index->wake_committer);
}

static void test_committer__an_unreadable_document_is_said_once(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    write_text(f, "two\nlines", 1);
    start_committer(f);
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "two\nlines");
    for (unsigned i = 0; i < 3; i++) {
        struct file_key key = indexed_tree_key(&f->tree, "two\nlines");
        assert_true(take_content(f, &change));
        hand_over(f, change, OUTCOME_FAILED, i < 2 ? -EACCES : -EIO);
        indexed_tree_settle_foreground(&f->tree);
        assert_int_equal(status_of(f).skipped, 1);
        assert_int_equal(n_logged(f, INDEX_LOG_WARNING), i < 2 ? 1 : 2);
        assert_null(strchr(f->last_message, '\n'));
        assert_non_null(strstr(f->last_message, "two\\nlines: cannot be read"));
        index_note_content(f->tree.index, &key);
    }
    assert_true(take_content(f, &change));
    change_queue_done(f->tree.index->queue, change);
}

static bool has_links(struct fixture *f, const struct file_key *key)
{
    _cleanup_(catalogue_list_done) struct catalogue_list links = {0};
    assert_int_equal(catalogue_links(f->tree.index->kv, key, 1, &links), 0);
    return links.n_entries > 0;
}

/* Its name went while a worker read it: a row would stay for good. */
static void test_committer__what_failed_and_has_no_name_any_more_gets_no_row(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    struct file_row row;
    write_text(f, "a", 1);
    start_committer(f);
    struct file_key key = indexed_tree_key(&f->tree, "a");
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "a");
    assert_true(take_content(f, &change));
    unlink(scratch_path(f->tree.tree, "a"));
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "a");
    while (has_links(f, &key))
        usleep(1000);
    hand_over(f, change, OUTCOME_FAILED, -EACCES);
    indexed_tree_settle_foreground(&f->tree);
    assert_int_equal(status_of(f).skipped, 0);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), 0);
    assert_int_equal(catalogue_get_file(f->tree.index->kv, &key, &row), -ENOENT);
}

static void test_committer__what_is_there_and_cannot_be_opened_is_given_up(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    unsigned n_rounds = 0;
    write_text(f, "a", 1);
    start_committer(f);
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "a");
    while (n_rounds < 100 && take_content(f, &change)) {
        hand_over(f, change, OUTCOME_GONE, 0);
        n_rounds++;
    }
    assert_in_range(n_rounds, 2, 20);
    indexed_tree_settle_foreground(&f->tree);
    assert_int_equal(status_of(f).skipped, 1);
}

static void put_links(struct fixture *f, const struct file_key *file, unsigned n)
{
    struct kv_batch *batch = kv_batch_new();
    char name[32];
    for (unsigned i = 0; i < n; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        catalogue_put(batch, backing_root_key(f->tree.backing), name, file, ENTRY_FILE);
    }
    assert_int_equal(kv_apply(f->kv, batch), 0);
    kv_batch_free(batch);
}

/* While the queue is full, a scan is to come that looks at all of them. */
static void test_committer__names_that_nobody_has_room_for_are_not_listed(void **state)
{
    enum { LINKS = 4096, NOTICES = 1 << 17 };
    struct fixture *f = *state;
    struct change change = {.kind = CHANGE_CONTENT, .owner = 1000};
    struct result result = {.change = &change, .outcome = OUTCOME_GONE}, *results[] = {&result};
    uint64_t n_before, n_after, n_writes;
    char name[32];
    write_text(f, "a", 1);
    open_index(f, &no_fault);
    const struct file_key *root = backing_root_key(f->tree.backing);
    change.key = indexed_tree_key(&f->tree, "a");
    put_links(f, &change.key, LINKS);
    for (unsigned i = 0; i < NOTICES; i++) {
        snprintf(name, sizeof(name), "none%u", i);
        index_note_entry_by(f->tree.index, 1000, root, name);
    }
    kv_fault_counts(f->fault, &n_before, &n_writes);
    assert_int_equal(commit_results(f->tree.index, results, 1), 0);
    kv_fault_counts(f->fault, &n_after, &n_writes);
    assert_int_equal(n_after - n_before, 1);
}

/* A user whose file goes with more names than the queue has room for. */
static void test_committer__names_of_what_is_gone_leave_room_for_what_others_change(void **state)
{
    enum { LINKS = (1 << 16) + 1000, OTHERS = 100, AT_A_TURN = 16 };
    struct fixture *f = *state;
    struct result result = {.outcome = OUTCOME_GONE}, *results[] = {&result};
    struct change *change;
    unsigned n_others = 0;
    char name[32];
    write_text(f, "a", 1);
    open_index(f, &no_fault);
    struct index *index = f->tree.index;
    const struct file_key key = indexed_tree_key(&f->tree, "a");
    put_links(f, &key, LINKS);
    index_note_content_by(index, 1000, &key);
    assert_int_equal(change_queue_take(index->queue, CHANGE_CONTENT, false, &result.change), 1);
    assert_int_equal(commit_results(index, results, 1), 0);
    change_queue_done(index->queue, result.change);
    for (unsigned i = 0; i < OTHERS; i++) {
        snprintf(name, sizeof(name), "other%u", i);
        index_note_entry_by(index, 2000, backing_root_key(f->tree.backing), name);
    }
    for (unsigned i = 0; i < 2 * (OTHERS + AT_A_TURN); i++) {
        assert_int_equal(change_queue_take(index->queue, CHANGE_ENTRY, false, &change), 1);
        n_others += strncmp(change->name, "other", strlen("other")) == 0;
        change_queue_done(index->queue, change);
    }
    assert_int_equal(n_others, OTHERS);
    assert_true(change_queue_wants_scan(index->queue));
}

static void test_committer__results_nobody_took_are_freed(void **state)
{
    struct fixture *f = *state;
    struct change *change;
    write_text(f, "a", 1);
    start_committer(f);
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "a");
    assert_true(take_content(f, &change));
    change_queue_shut_down(f->tree.index->queue);
    {
        LOCKED(&f->tree.index->lock);
        f->tree.index->stop = true;
        pthread_cond_signal(&f->tree.index->wake_committer);
    }
    pthread_join(f->tree.index->committer, NULL);
    hand_over(f, change, OUTCOME_GONE, 0); /* by a worker that ends last */
    results_drop(f->tree.index);
    assert_int_equal(f->tree.index->n_results, 0);
    f->tree.index->started = false;
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_committer__an_unreadable_document_is_said_once),
        ON_A_TREE(test_committer__what_failed_and_has_no_name_any_more_gets_no_row),
        ON_A_TREE(test_committer__what_is_there_and_cannot_be_opened_is_given_up),
        ON_A_TREE(test_committer__names_that_nobody_has_room_for_are_not_listed),
        ON_A_TREE(test_committer__names_of_what_is_gone_leave_room_for_what_others_change),
        ON_A_TREE(test_committer__results_nobody_took_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
