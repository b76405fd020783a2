/* The committer at rest, at work, and in what it says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/index/index_state.h"
#include "engine/index/intake/committer.h"
#include "engine/index/intake/scan/scan.h"
#include "store/kv_backend.h"
#include "tests/lib/fixtures/committer_fixture.h"
#include "tests/lib/scratch.h"

static void test_committer__sleeps_while_the_scan_is_ahead(void **state)
{
    enum { N = 5000 };
    struct fixture *f = *state;
    struct timespec begin, end;
    open_index(f, &no_fault);
    for (unsigned i = 0; i < N; i++) {
        struct file_key key = {.size_bytes = FILE_KEY_MIN_BYTES};
        memcpy(key.bytes, &i, sizeof(i));
        change_queue_note(f->tree.index->queue, LANE_SCAN, CHANGE_CONTENT, &key, NULL, 0, NULL);
    }
    index_rescan(f->tree.index);
    assert_int_equal(pthread_create(&f->tree.index->committer, NULL, committer_run, f->tree.index),
                     0);
    f->tree.index->started = true;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    usleep(500 * 1000);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    assert_true(seconds < 0.2);
    assert_int_equal(index_settle(f->tree.index, INDEX_LANE_ALL, 0), -ETIMEDOUT);
}

static void test_committer__the_generation_is_even_at_rest_and_grows(void **state)
{
    struct fixture *f = *state;
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    uint64_t before = index_generation(f->tree.index);
    write_text(f, "a", 1);
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), "a");
    indexed_tree_settle_foreground(&f->tree);
    assert_true(index_generation(f->tree.index) > before);
    assert_int_equal(index_generation(f->tree.index) % 2, 0);
}

static uint64_t n_documents(struct fixture *f)
{
    struct index_status status;
    index_get_status(f->tree.index, &status);
    return status.documents;
}

/* Scans of the whole tree have a rest between them, unless somebody waits for one. */
static void test_committer__a_scan_begins_when_the_last_one_is_some_time_ago(void **state)
{
    struct fixture *f = *state;
    write_text(f, "a", 1);
    open_index(f, &no_fault);
    f->tree.index->whole_scan.next_at_ms = clock_now_ms() + 3600 * 1000;
    assert_int_equal(index_start(f->tree.index), 0);
    usleep(300 * 1000);
    assert_int_equal(n_documents(f), 0);
    indexed_tree_settle(&f->tree);
    assert_int_equal(n_documents(f), 1);
}

static bool has_entry(struct fixture *f, const struct file_key *parent, const char *name)
{
    struct file_key child;
    enum entry_type type;
    return catalogue_get(f->tree.index->kv, parent, name, &child, &type) == 0;
}

static void note_root_entry(struct fixture *f, const char *name)
{
    index_note_entry(f->tree.index, backing_root_key(f->tree.backing), name);
}

/* What an ignore file says counts soon, also while somebody else has a scan of the whole tree be
 * wanted, which is to wait. */
static void test_committer__an_ignore_file_waits_for_no_scan_of_the_tree(void **state)
{
    enum { TRIES = 2000 };
    struct fixture *f = *state;
    write_text(f, "a", 1);
    write_text(f, "b", 2);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    stop(f);
    scratch_write(scratch_path(f->tree.tree, ".kinfsignore"), "b\n");
    open_index(f, &no_fault);
    f->tree.index->whole_scan.next_at_ms = clock_now_ms() + 3600 * 1000;
    assert_int_equal(index_start(f->tree.index), 0);
    const struct file_key *root = backing_root_key(f->tree.backing);
    assert_true(has_entry(f, root, "b"));
    note_root_entry(f, ".kinfsignore");
    indexed_tree_settle_foreground(&f->tree);
    for (unsigned i = 0; i < TRIES && has_entry(f, root, "b"); i++)
        usleep(10 * 1000);
    assert_true(has_entry(f, root, "a"));
    assert_false(has_entry(f, root, "b"));
}

/* The tree is scanned for more than some of one owner. */
static void test_committer__many_ignore_files_count_as_well(void **state)
{
    enum { MANY = 40 };
    struct fixture *f = *state;
    char name[32];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "d%u", i);
        assert_int_equal(mkdir(scratch_path(f->tree.tree, "%s", name), 0755), 0);
        snprintf(name, sizeof(name), "d%u/b", i);
        write_text(f, name, i);
    }
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    assert_int_equal(status_of(f).documents, MANY);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "d%u", i);
        const struct file_key directory = indexed_tree_key(&f->tree, name);
        scratch_write(scratch_path(f->tree.tree, "%s/.kinfsignore", name), "*\n");
        index_note_entry(f->tree.index, &directory, ".kinfsignore");
    }
    indexed_tree_settle(&f->tree);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof(name), "d%u", i);
        const struct file_key directory = indexed_tree_key(&f->tree, name);
        assert_false(has_entry(f, &directory, "b"));
    }
}

/* Somebody writes some documents again and again: whenever a worker looks at one, they are noted,
 * so that there is always one to be looked at. */
enum { WRITTEN = 8, FOUND = 20, LOOKS_MANY = 100000 };
static const struct kv_ops *quiet_ops;
static struct fixture *written_on;
static struct file_key written[WRITTEN];
static atomic_uint n_looks; /* since the scan has found all */

static bool is_over(struct fixture *f)
{
    return n_looks >= LOOKS_MANY ||
           atomic_load(&f->tree.index->counts.n_documents) >= WRITTEN + FOUND;
}

static int write_while_read(struct kv *kv, unsigned table, struct kv_slice key,
                            struct kv_buf *ret_value)
{
    struct index *index = written_on->tree.index;
    for (unsigned i = 0; table == TABLE_FILES && i < WRITTEN && !is_over(written_on); i++)
        index_note_content(index, &written[i]);
    n_looks += table == TABLE_FILES && atomic_load(&index->scan_found) >= WRITTEN + FOUND;
    return quiet_ops->get(kv, table, key, ret_value);
}

/* Others' files that a scan finds are read all the same. */
static void test_committer__what_a_scan_finds_is_read_beside_what_is_written(void **state)
{
    struct fixture *f = *state;
    char name[32];
    for (unsigned i = 0; i < WRITTEN; i++) {
        snprintf(name, sizeof(name), "written%u", i);
        write_text(f, name, i);
    }
    open_index(f, &no_fault);
    written_on = f;
    quiet_ops = f->fault->ops;
    static struct kv_ops writing_ops;
    writing_ops = *quiet_ops;
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    for (unsigned i = 0; i < WRITTEN; i++) {
        snprintf(name, sizeof(name), "written%u", i);
        written[i] = indexed_tree_key(&f->tree, name);
    }
    for (unsigned i = 0; i < FOUND; i++) {
        snprintf(name, sizeof(name), "found%u", i);
        write_text(f, name, WRITTEN + i);
    }
    n_looks = 0;
    writing_ops.get = write_while_read;
    f->fault->ops = &writing_ops;
    index_note_content(f->tree.index, &written[0]);
    change_queue_settle(f->tree.index->queue, LANE_FOREGROUND, 0); /* which ends the holding */
    index_rescan(f->tree.index);
    while (!is_over(f))
        usleep(1000);
    assert_int_equal(atomic_load(&f->tree.index->counts.n_documents), WRITTEN + FOUND);
}

/* The most links that anybody wanted at once of a store. */
static atomic_size_t most_links;
static const struct kv_ops *plain_ops;

static int note_links(struct kv *kv, unsigned table, const struct kv_range *ranges, size_t n_ranges,
                      size_t limit, struct kv_page *ret_pages)
{
    if (table == TABLE_LINKS && limit > most_links)
        most_links = limit;
    return plain_ops->multi_scan(kv, table, ranges, n_ranges, limit, ret_pages);
}

/* A file may have millions of links. */
static void test_committer__all_links_of_a_file_gone_unnoticed_are_looked_at_by_parts(void **state)
{
    enum { LINKS = 1100, MOST_AT_ONCE = 1000 };
    struct fixture *f = *state;
    char name[32];
    write_text(f, "a", 1);
    for (unsigned i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        char to[256];
        snprintf(to, sizeof(to), "%s/%s", f->tree.tree, name);
        assert_int_equal(link(scratch_path(f->tree.tree, "a"), to), 0);
    }
    open_index(f, &no_fault);
    plain_ops = f->fault->ops;
    static struct kv_ops noting_ops;
    noting_ops = *plain_ops;
    noting_ops.multi_scan = note_links;
    f->fault->ops = &noting_ops;
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    assert_int_equal(status_of(f).documents, 1);
    /* As many names as one look found, however many documents they are of. */
    assert_int_equal(status_of(f).scan_done, status_of(f).scan_found);
    struct file_key key = indexed_tree_key(&f->tree, "a");
    unlink(scratch_path(f->tree.tree, "a"));
    for (unsigned i = 0; i < LINKS; i++) {
        snprintf(name, sizeof(name), "link%u", i);
        unlink(scratch_path(f->tree.tree, "%s", name));
    }
    most_links = 0;
    index_note_content(f->tree.index, &key);
    indexed_tree_settle_foreground(&f->tree);
    assert_int_equal(status_of(f).documents, 0);
    assert_in_range(most_links, 1, MOST_AT_ONCE);
}

/* Pages of a directory that goes, each of which takes a while. */
static atomic_uint n_pages;
static struct fixture *written_by;

static int take_away_slowly(struct kv *kv, unsigned table, const struct kv_range *ranges,
                            size_t n_ranges, size_t limit, struct kv_page *ret_pages)
{
    struct fixture *f = written_by;
    if (table == TABLE_NAMES && n_ranges == 1 && limit > 1) {
        if (atomic_fetch_add(&n_pages, 1) == 0)
            note_root_entry(f, "new");
        usleep(10 * 1000);
    }
    return plain_ops->multi_scan(kv, table, ranges, n_ranges, limit, ret_pages);
}

/* The index has rested for a while, then a file takes the place of a large directory, and another
 * user writes a document while what hung on that goes: the time of rest is not made up for. */
static void
test_committer__after_a_rest_what_users_do_does_not_wait_for_the_background(void **state)
{
    enum { LINKS = 5000, PAGE = 128, RESTED_US = 2000 * 1000 };
    struct fixture *f = *state;
    char to[256];
    write_text(f, "a", 1);
    assert_int_equal(mkdir(scratch_path(f->tree.tree, "d"), 0755), 0);
    for (unsigned i = 0; i < LINKS; i++) {
        snprintf(to, sizeof(to), "%s/d/%u", f->tree.tree, i);
        assert_int_equal(link(scratch_path(f->tree.tree, "a"), to), 0);
    }
    open_index(f, &no_fault);
    plain_ops = f->fault->ops;
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    usleep(RESTED_US);
    static struct kv_ops slow_ops;
    slow_ops = *plain_ops;
    slow_ops.multi_scan = take_away_slowly;
    written_by = f;
    write_text(f, "new", 2);
    snprintf(to, sizeof(to), "%s/d", f->tree.root);
    assert_int_equal(rename(scratch_path(f->tree.tree, "d"), to), 0);
    write_text(f, "d", 3);
    n_pages = 0;
    f->fault->ops = &slow_ops;
    note_root_entry(f, "d");
    while (atomic_load(&n_pages) == 0)
        indexed_tree_settle_foreground(&f->tree);
    indexed_tree_settle_foreground(&f->tree);
    assert_in_range(atomic_load(&n_pages), 1, LINKS / PAGE / 2);
    indexed_tree_settle(&f->tree);
    assert_true(atomic_load(&n_pages) >= LINKS / PAGE);
    assert_int_equal(status_of(f).documents, 3);
}

/* Noted before there is a committer, they are one batch. */
static void test_committer__entries_that_come_together(void **state)
{
    struct fixture *f = *state;
    char to[256];
    assert_int_equal(mkdir(scratch_path(f->tree.tree, "d"), 0755), 0);
    write_text(f, "a", 0);
    write_text(f, "c", 1);
    write_text(f, "d/x", 2);
    snprintf(to, sizeof(to), "%s/b", f->tree.tree);
    assert_int_equal(link(scratch_path(f->tree.tree, "a"), to), 0);
    open_index(f, &no_fault);
    struct file_key directory = indexed_tree_key(&f->tree, "d");
    index_note_entry(f->tree.index, &directory, "x"); /* before its directory: not known yet */
    note_root_entry(f, "a");
    note_root_entry(f, "missing");
    note_root_entry(f, "d");
    index_note_entry(f->tree.index, &directory, "y");
    note_root_entry(f, "b");
    note_root_entry(f, "c");
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle(&f->tree);
    const struct file_key *root = backing_root_key(f->tree.backing);
    assert_true(has_entry(f, root, "a") && has_entry(f, root, "b") && has_entry(f, root, "c"));
    assert_true(has_entry(f, root, "d") && has_entry(f, &directory, "x"));
    assert_false(has_entry(f, root, "missing") || has_entry(f, &directory, "y"));
    assert_int_equal(status_of(f).documents, 3);
    stop(f);

    /* One takes another's name, and both names of a document go. */
    snprintf(to, sizeof(to), "%s/c", f->tree.tree);
    assert_int_equal(rename(scratch_path(f->tree.tree, "d/x"), to), 0);
    unlink(scratch_path(f->tree.tree, "a"));
    unlink(scratch_path(f->tree.tree, "b"));
    open_index(f, &no_fault);
    note_root_entry(f, "a");
    note_root_entry(f, "b");
    note_root_entry(f, "c");
    index_note_entry(f->tree.index, &directory, "x");
    assert_int_equal(index_start(f->tree.index), 0);
    indexed_tree_settle_foreground(&f->tree);
    root = backing_root_key(f->tree.backing);
    assert_false(has_entry(f, root, "a") || has_entry(f, root, "b"));
    assert_true(has_entry(f, root, "c") && !has_entry(f, &directory, "x"));
    assert_int_equal(status_of(f).documents, 1);
}

/* Too long to be read, which takes no time to tell. */
static void write_endless(struct fixture *f, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        scratch_write(scratch_path(f->tree.tree, "endless%u", i), "");
        assert_int_equal(truncate(scratch_path(f->tree.tree, "endless%u", i), (off_t)65 << 30), 0);
    }
}

/* Its path was looked for in vain: that is told to nobody, and counts as if it had been. */
static void test_committer__a_warning_without_a_path_counts(void **state)
{
    enum { DEEP = CATALOGUE_DEPTH_MAX + 1 };
    struct fixture *f = *state;
    char path[2 * DEEP + 1] = "";
    for (size_t i = 0; i < DEEP; i++) {
        strcat(path, i ? "/d" : "d");
        assert_int_equal(mkdir(scratch_path(f->tree.tree, "%s", path), 0755), 0);
    }
    scratch_write(scratch_path(f->tree.tree, "%s/endless", path), "");
    assert_int_equal(truncate(scratch_path(f->tree.tree, "%s/endless", path), (off_t)65 << 30), 0);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    assert_int_equal(atomic_load(&f->tree.index->counts.n_skipped), 1);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), 0);
    assert_int_equal(f->tree.index->messages.n_warned, 1);
}

static void test_committer__documents_fill_no_log(void **state)
{
    enum { N = MESSAGES_WARNINGS_MAX + 100 };
    struct fixture *f = *state;
    write_endless(f, 0, N);
    start(f, &no_fault);
    indexed_tree_settle(&f->tree);
    assert_int_equal(atomic_load(&f->tree.index->counts.n_skipped), N);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), MESSAGES_WARNINGS_MAX + 1);
    assert_non_null(strstr(f->last_message, "not told for an hour"));
    /* Of one more no path is looked for. */
    char before[MESSAGES_BYTES];
    memcpy(before, f->tree.index->messages.last_error, sizeof(before));
    write_endless(f, N, N + 1);
    index_rescan(f->tree.index);
    indexed_tree_settle(&f->tree);
    assert_int_equal(atomic_load(&f->tree.index->counts.n_skipped), N + 1);
    assert_string_equal(f->tree.index->messages.last_error, before);
    /* The next hour. */
    f->tree.index->messages.warned_since_ms -= 3600 * 1000;
    write_endless(f, N + 1, N + 2);
    index_rescan(f->tree.index);
    indexed_tree_settle(&f->tree);
    assert_int_equal(n_logged(f, INDEX_LOG_WARNING), MESSAGES_WARNINGS_MAX + 2);
    assert_non_null(strstr(f->last_message, "longer than"));
}

int main(void)
{
#define ON_A_TREE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        ON_A_TREE(test_committer__sleeps_while_the_scan_is_ahead),
        ON_A_TREE(test_committer__the_generation_is_even_at_rest_and_grows),
        ON_A_TREE(test_committer__a_scan_begins_when_the_last_one_is_some_time_ago),
        ON_A_TREE(test_committer__an_ignore_file_waits_for_no_scan_of_the_tree),
        ON_A_TREE(test_committer__many_ignore_files_count_as_well),
        ON_A_TREE(test_committer__after_a_rest_what_users_do_does_not_wait_for_the_background),
        ON_A_TREE(test_committer__what_a_scan_finds_is_read_beside_what_is_written),
        ON_A_TREE(test_committer__all_links_of_a_file_gone_unnoticed_are_looked_at_by_parts),
        ON_A_TREE(test_committer__entries_that_come_together),
        ON_A_TREE(test_committer__a_warning_without_a_path_counts),
        ON_A_TREE(test_committer__documents_fill_no_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
