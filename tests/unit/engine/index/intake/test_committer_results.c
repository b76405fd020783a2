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
#include "engine/index/intake/reconcile.h"
#include "engine/index/tables/distinct.h"
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

static void put_directory(struct fixture *f, const char *name, const struct file_key *directory)
{
    struct kv_batch *batch = kv_batch_new();
    catalogue_put(batch, backing_root_key(f->tree.backing), name, directory, ENTRY_DIRECTORY);
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

/* The changes of some names, with what is there now. */
static size_t take_names(struct fixture *f, struct name_look *looks, struct change **changes,
                         struct name_look **ret_looks, size_t n)
{
    struct index *index = f->tree.index;
    size_t n_taken = 0;
    while (n_taken < n &&
           change_queue_take(index->queue, CHANGE_ENTRY, false, &changes[n_taken]) == 1) {
        struct change *change = changes[n_taken];
        struct name_look *look = ret_looks[n_taken] = &looks[n_taken];
        *look = (struct name_look){.change = change};
        below_look(index, look);
        assert_int_equal(look->result, 0);
        n_taken++;
    }
    return n_taken;
}

/* Names that an inode has lost leave a trace in the store, which each question about it passes:
 * who replaces very many names of one file is not to have one asked for each. */
static void test_committer__names_that_mean_another_file_now_are_asked_about_once(void **state)
{
    enum { LINKS = 250, FOR_OTHERS = 50, CALLS_OF_NAME = 2, CALLS_OF_OTHER = 5 };
    static struct name_look looks[2 * LINKS];
    struct fixture *f = *state;
    struct name_look *pointers[2 * LINKS];
    struct change *changes[2 * LINKS];
    uid_t owners[2 * LINKS];
    uint64_t n_before, n_after, n_writes;
    char name[32];
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    open_index(f, &no_fault);
    struct index *index = f->tree.index;
    const struct file_key *root = backing_root_key(f->tree.backing);
    const struct file_key a = indexed_tree_key(&f->tree, "a"), b = indexed_tree_key(&f->tree, "b");
    char *b_path = strdup(scratch_path(f->tree.tree, "b"));
    assert_int_equal(mkdir(scratch_path(f->tree.tree, "in"), 0755), 0);
    const struct file_key in = indexed_tree_key(&f->tree, "in");
    put_directory(f, "in", &in);
    atomic_store(&index->past.keep_s, 0); /* which takes some calls for each name */
    put_links(f, &a, LINKS);
    for (unsigned i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        assert_int_equal(link(b_path, scratch_path(f->tree.tree, "%s", name)), 0);
        index_note_entry(index, root, name);
        /* In between others change, in other directories. */
        snprintf(name, sizeof(name), "in/%u", i);
        assert_int_equal(link(b_path, scratch_path(f->tree.tree, "%s", name)), 0);
        index_note_entry(index, &in, name + strlen("in/"));
        owners[2 * i] = owners[2 * i + 1] = RECONCILE_NOBODY;
    }
    free(b_path);
    assert_int_equal(take_names(f, looks, changes, pointers, 2 * LINKS), 2 * LINKS);
    kv_fault_counts(f->fault, &n_before, &n_writes);
    assert_int_equal(reconcile_entries(index, changes, pointers, 2 * LINKS, owners), 0);
    kv_fault_counts(f->fault, &n_after, &n_writes);
    assert_in_range(n_after - n_before, 1, LINKS * (CALLS_OF_NAME + CALLS_OF_OTHER) + FOR_OTHERS);
    for (unsigned i = 0; i < LINKS; i++) {
        struct file_key child;
        enum entry_type type;
        snprintf(name, sizeof(name), "link%u", i);
        assert_int_equal(catalogue_get(index->kv, root, name, &child, &type), 0);
        assert_true(file_key_equal(&child, &b));
    }
    for (unsigned i = 0; i < 2 * LINKS; i++)
        change_queue_done(index->queue, changes[i]);
    assert_false(has_links(f, &a));
    assert_true(has_links(f, &b));
}

/* Of each then holds what is declared of the other, too: which of the two was meant, the names or
 * the files, nobody knows. */
static void test_committer__of_files_that_exchange_their_names_both_live_on(void **state)
{
    static struct name_look looks[2];
    struct fixture *f = *state;
    struct name_look *pointers[2];
    struct change *changes[2];
    uid_t owners[] = {RECONCILE_NOBODY, RECONCILE_NOBODY};
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    write_text(f, "c", 3);
    start(f, &no_fault);
    index_settle(f->tree.index, INDEX_LANE_ALL, 600000);
    struct index *index = f->tree.index;
    index_stop(index);
    const struct file_key *root = backing_root_key(f->tree.backing);
    const struct file_key keys[] = {indexed_tree_key(&f->tree, "a"),
                                    indexed_tree_key(&f->tree, "b"),
                                    indexed_tree_key(&f->tree, "c")};
    struct file_row before[2], after;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(catalogue_get_file(index->kv, &keys[i], &before[i]), 0);
        assert_true(before[i].sid);
    }
    assert_int_equal(distinct_set(index->kv, &keys[0], &keys[2], true), 0);
    const int root_fd = backing_root_fd(f->tree.backing);
    assert_int_equal(renameat2(root_fd, "a", root_fd, "b", RENAME_EXCHANGE), 0);
    struct change named[] = {{.kind = CHANGE_ENTRY, .key = *root, .name = "a"},
                             {.kind = CHANGE_ENTRY, .key = *root, .name = "b"}};
    for (unsigned i = 0; i < 2; i++) {
        changes[i] = &named[i];
        pointers[i] = &looks[i];
        looks[i] = (struct name_look){.change = changes[i]};
        below_look(index, &looks[i]);
        assert_int_equal(looks[i].result, 0);
    }
    assert_int_equal(reconcile_entries(index, changes, pointers, 2, owners), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct file_key child;
        enum entry_type type;
        assert_int_equal(catalogue_get(index->kv, root, named[i].name, &child, &type), 0);
        assert_true(file_key_equal(&child, &keys[!i]));
        assert_int_equal(catalogue_get_file(index->kv, &keys[i], &after), 0);
        assert_true(after.sid == before[i].sid);
        assert_int_equal(distinct_has(index->kv, &keys[i], &keys[2]), 1);
    }
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
        ON_A_TREE(test_committer__names_that_mean_another_file_now_are_asked_about_once),
        ON_A_TREE(test_committer__of_files_that_exchange_their_names_both_live_on),
        ON_A_TREE(test_committer__results_nobody_took_are_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
